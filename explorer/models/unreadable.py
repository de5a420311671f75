"""What the libraries raise at files that are damaged, or that somebody made up."""

import pickle

from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError

UNREADABLE = (
    OSError,
    ValueError,
    LookupError,
    ArithmeticError,
    AssertionError,
    TypeError,
    AttributeError,
    ImportError,
    RuntimeError,
    SafetensorError,
    pickle.UnpicklingError,
    StrictDataclassError,
)


def is_tokenizer_fault(error: BaseException) -> bool:
    """Whether the tokenizers library gave up: its errors are bare Exceptions, its panics no Exceptions at all.

    Args:
        error: A panic would end the thread it comes to, without a word to whoever waits for it.

    Source: pyo3's PanicException, https://pyo3.rs/latest/function/error-handling
    """
    return type(error) is Exception or type(error).__module__ == "pyo3_runtime"
