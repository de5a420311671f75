# docker build -t explorer .                            CPU, about 1 GB
# docker build -t explorer --build-arg DEVICE=cuda .    CUDA; run it with: docker run --gpus all -p 7860:7860 explorer
FROM python:3.11-slim

ARG DEVICE=cpu

RUN useradd --create-home -u 1000 user
USER user
RUN mkdir -p /home/user/app /home/user/.cache/huggingface
WORKDIR /home/user/app

# Hub models that visitors ask for go below /home/user; the bundled ones need no network.
ENV HOME=/home/user \
    HF_HOME=/home/user/.cache/huggingface \
    PATH=/home/user/.local/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    GRADIO_ANALYTICS_ENABLED=False \
    GRADIO_SERVER_NAME=0.0.0.0 \
    GRADIO_SERVER_PORT=7860

# The CPU build of torch has an index of its own; the CUDA build is the one on PyPI.
COPY --chown=user constraints.txt requirements.txt ./
RUN if [ "$DEVICE" = cpu ]; then export PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu; fi \
    && pip install --user --no-cache-dir -c constraints.txt -r requirements.txt

COPY --chown=user . .
RUN pip install --user --no-cache-dir --no-deps -e .

EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD python -c "from urllib.request import urlopen; urlopen('http://127.0.0.1:7860/', timeout=4)"
CMD ["python", "app.py"]
