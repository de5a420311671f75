"""ELMo: a language model in each direction, two LSTM layers deep, over words spelled by their characters.

    x_t = words(characters of word t)                                      layer 0, the same in every context
    h(k,t) forward  = LSTM_k(h(k-1,t), state behind word t-1)  [+ h(k-1,t) if k > 1 and skip connections]
    h(k,t) backward = the same from the row's own end towards its start
    layer k = [h(k,t) forward ; h(k,t) backward]; layer 0 = [x_t ; x_t]

The published files hold no softmax: contextual vectors only. ElmoConfig(input="tokens") builds the same network over
the ids of any vocabulary, to be trained from nothing.

Source: Peters et al. 2018, https://arxiv.org/abs/1802.05365
"""

import json
import logging
import os
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import torch
from huggingface_hub.dataclasses import strict
from huggingface_hub.errors import StrictDataclassError
from jaxtyping import Bool, Float, Int
from safetensors import SafetensorError
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, PreTrainedConfig, PreTrainedModel, initialization
from transformers.utils import ModelOutput

from explorer.errors import ModelRefused, ModelUnavailable
from explorer.models.elmo_layers import CharacterEncoder, HighwayGate, ProjectedLstm, State, reverse_rows
from explorer.models.elmo_published import find_file, read_options, read_weights
from explorer.models.elmo_tokenizer import BEGIN_SENTENCE, CHARACTERS, END_SENTENCE, ElmoTokenizer, spell

log = logging.getLogger(__name__)


@strict
class ElmoConfig(PreTrainedConfig):
    """The settings of a biLM; the defaults are those of the published "original".

    Attributes:
        input: "characters": ids [row, token, char], 0 = no word; "tokens": ids [row, token] of a vocabulary.
        vocab_size: Characters, or entries of the vocabulary.
        max_characters: Ids per word.
        character_dim: Width of a character's vector.
        filters: (width in characters, how many) of each group of filters.
        n_highways: Highway layers over the filters.
        activation: Of the filters: "relu" or "tanh".
        projection_dim: Width of a word's vector and of one direction; hidden_size is twice that.
        lstm_dim: Width of an LSTM's cell, larger than projection_dim.
        num_hidden_layers: LSTM layers per direction.
        cell_clip: Bound of the cell's values; None = none. Without any clipping torch's fast LSTM kernel is used.
        projection_clip: Bound of the projected state's values; None = none.
        use_skip_connections: Whether layers above the first add their input to their output.
        bos_token_id: input="tokens": id set before each row and removed again; None = nothing is set around rows.
        eos_token_id: Likewise behind each row.
        pad_token_id: Fills shorter rows.
    """

    model_type = "elmo"

    input: Literal["characters", "tokens"] = "characters"
    vocab_size: int = CHARACTERS
    max_characters: int = 50
    character_dim: int = 16
    filters: list | tuple = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024))
    n_highways: int = 2
    activation: Literal["relu", "tanh"] = "relu"
    projection_dim: int = 512
    lstm_dim: int = 4096
    num_hidden_layers: int = 2
    cell_clip: float | int | None = 3.0
    projection_clip: float | int | None = 3.0
    use_skip_connections: bool = True
    bos_token_id: int | None = None
    eos_token_id: int | None = None
    pad_token_id: int | None = 0

    @property
    def hidden_size(self) -> int:
        """Width of a layer's vectors: both directions."""
        return 2 * self.projection_dim


@dataclass
class ElmoOutput(ModelOutput):
    """What ElmoModel returns.

    Attributes:
        last_hidden_state: The top layer, [row, token, dim]; zeros where the mask is 0.
        hidden_states: All layers from 0 (words without context) to the top.
        state: With stateful=True: (h, c) of every LSTM behind this call, forward ones first.
    """

    last_hidden_state: Float[Tensor, "row token dim"] | None = None
    hidden_states: tuple[Float[Tensor, "row token dim"], ...] | None = None
    state: tuple[State, ...] | None = None


class ElmoModel(PreTrainedModel):
    """The biLM without a softmax, as a transformers model."""

    config: ElmoConfig
    config_class = ElmoConfig
    base_model_prefix = "elmo"
    main_input_name = "input_ids"

    def __init__(self, config: ElmoConfig) -> None:
        super().__init__(config)
        dim, sizes = config.projection_dim, (config.character_dim, config.filters, config.n_highways)
        if config.input == "characters":
            self.words = CharacterEncoder(config.vocab_size, *sizes, dim, config.activation)
        else:
            self.words = nn.Embedding(config.vocab_size, dim, padding_idx=config.pad_token_id)
        lstm = (dim, config.lstm_dim, dim, config.cell_clip, config.projection_clip)
        self.forward_layers = nn.ModuleList(ProjectedLstm(*lstm) for _ in range(config.num_hidden_layers))
        self.backward_layers = nn.ModuleList(ProjectedLstm(*lstm) for _ in range(config.num_hidden_layers))
        self.post_init()

    def get_input_embeddings(self) -> nn.Embedding:
        """The vectors of the characters, or of the vocabulary."""
        return self.words.embedding if self.config.input == "characters" else self.words

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        """Start values as in bilm-tf; transformers' own (0.02 everywhere) would silence the character filters."""
        if isinstance(module, nn.Embedding):
            initialization.uniform_(module.weight, -1.0, 1.0)
            if module.padding_idx is not None and not getattr(module.weight, "_is_hf_initialized", False):
                module.weight[module.padding_idx].zero_()
        elif isinstance(module, nn.Conv1d):
            initialization.uniform_(module.weight, -0.05, 0.05)
            initialization.zeros_(module.bias)
        elif isinstance(module, nn.Linear):
            initialization.normal_(module.weight, std=module.in_features**-0.5)
            initialization.constant_(module.bias, -2.0 if isinstance(module, HighwayGate) else 0.0)
        elif isinstance(module, ProjectedLstm):
            super()._init_weights(module)
            if not getattr(module.bias_ih_l0, "_is_hf_initialized", False):
                module.bias_ih_l0[module.hidden_size : 2 * module.hidden_size] = 1.0  # forget nothing at first

    def forward(
        self,
        input_ids: Int[Tensor, "row token"] | Int[Tensor, "row token char"],
        attention_mask: Int[Tensor, "row token"] | Bool[Tensor, "row token"] | None = None,
        *,
        output_hidden_states: bool = True,
        return_dict: bool = True,
        stateful: bool = False,
        state: tuple[State, ...] | None = None,
    ) -> ElmoOutput | tuple:
        """Contextual vectors of words.

        Args:
            input_ids: Ids of the words, without marks of the sentence: those are added here, and removed again.
            attention_mask: 1 = a word, 0 = nothing; the words of a row come first. None = where an id is not 0, or all
                tokens of a vocabulary.
            output_hidden_states: Whether to return every layer; it costs nothing.
            return_dict: Whether to return an ElmoOutput rather than a tuple.
            stateful: Whether to return the state behind this call, as bilm-tf and AllenNLP keep it from batch to batch.
                By default the same text has the same vectors whatever was read before it.
            state: What such a call returned, to go on from it with the same number of rows; None = zeros.

        Raises:
            ValueError: The ids have another shape, or padding stands before words.
        """
        characters = self.config.input == "characters"
        if input_ids.ndim != (3 if characters else 2):
            raise ValueError(f"{self.config.input} come as {3 if characters else 2} axes, not {list(input_ids.shape)}")
        if attention_mask is None:
            attention_mask = (input_ids > 0).any(dim=-1) if characters else torch.ones_like(input_ids)
        mask = attention_mask.bool()
        if (mask[:, 1:] & ~mask[:, :-1]).any():
            raise ValueError("Padding stands before words; pad on the right.")
        if state is not None and any(len(h) != len(input_ids) for h, _ in state):
            raise ValueError("The state belongs to another number of rows.")
        lengths = mask.sum(dim=1)
        marked = characters or self.config.bos_token_id is not None
        if marked:
            input_ids, lengths = self.add_marks(input_ids, lengths), lengths + 2
        layers, state = self.read(input_ids, lengths, stateful=stateful, state=state)
        if marked:
            layers = [layer[:, 1:-1] for layer in layers]
        layers = tuple(layer.masked_fill(~mask[:, :, None], 0.0) for layer in layers)
        output = ElmoOutput(layers[-1], layers if output_hidden_states else None, state)
        return output if return_dict else output.to_tuple()

    def add_marks(
        self, input_ids: Int[Tensor, "row token *char"], lengths: Int[Tensor, " row"]
    ) -> Int[Tensor, "row token2 *char"]:
        """Set "begin of sentence" before each row and "end of sentence" right behind its last word."""
        if self.config.input == "characters":
            marks = [spell([mark], input_ids.shape[-1]).tolist() for mark in (BEGIN_SENTENCE, END_SENTENCE)]
        else:
            marks = [self.config.bos_token_id, self.config.eos_token_id]
        begin, end = torch.tensor(marks, device=input_ids.device, dtype=input_ids.dtype)
        rows, tokens, *rest = input_ids.shape
        filler = 0 if rest else self.config.pad_token_id or 0
        marked = input_ids.new_full((rows, tokens + 2, *rest), filler)
        marked[:, 0] = begin
        marked[:, 1:-1] = input_ids
        marked[torch.arange(rows, device=input_ids.device), lengths + 1] = end
        return marked

    def read(
        self,
        input_ids: Int[Tensor, "row token *char"],
        lengths: Int[Tensor, " row"],
        *,
        stateful: bool = False,
        state: tuple[State, ...] | None = None,
    ) -> tuple[list[Float[Tensor, "row token dim"]], tuple[State, ...] | None]:
        """All layers at every id given, marks of the sentence included: what a language modelling loss needs.

        Returns:
            Layers from 0 up, the forward direction in the first half of dim; and the state if stateful.
        """
        words = self.words(input_ids)
        sides, states = [], []
        for side, backward in ((self.forward_layers, False), (self.backward_layers, True)):
            x, outputs = reverse_rows(words, lengths) if backward else words, []
            for k, layer in enumerate(side):
                before = state[len(states)] if state is not None else None
                h, behind = layer(x, lengths, before, stateful)
                x = h + x if k > 0 and self.config.use_skip_connections else h
                states.append(behind)
                outputs.append(reverse_rows(x, lengths) if backward else x)
            sides.append(outputs)
        layers = [torch.cat(pair, dim=-1) for pair in zip(*sides, strict=True)]
        return [torch.cat([words, words], dim=-1), *layers], tuple(states) if stateful else None


AutoConfig.register("elmo", ElmoConfig)
AutoModel.register(ElmoConfig, ElmoModel)


def load_elmo(folder: Path) -> tuple[ElmoModel, ElmoTokenizer]:
    """Load an ELMo from a folder that holds its published files, or what save_pretrained wrote.

    The published files are converted once, to config.json and model.safetensors beside them; as long as these are not
    older, they are read instead, which is faster and needs no h5py.

    Args:
        folder: Holds one file *options.json and one *weights.hdf5; or config.json and model.safetensors; or all four.

    Returns:
        The network in eval mode, float32, on the CPU; and its tokenizer.

    Raises:
        ModelUnavailable: A file is missing, or h5py is needed and not installed.
        ModelRefused: A file is damaged, or the files do not fit each other.
    """
    published = {ending: find_file(folder, ending) for ending in ("options.json", "weights.hdf5")}
    converted = [folder / "config.json", folder / "model.safetensors"]
    originals = [path for path in published.values() if path]
    if all(path.is_file() for path in converted):
        newest = max((path.stat().st_mtime_ns for path in originals), default=0)
        if newest <= min(path.stat().st_mtime_ns for path in converted):
            network = _load_converted(folder)
            return network, ElmoTokenizer(network.config.max_characters)
    for ending, path in published.items():
        if path is None:
            raise ModelUnavailable(f"{folder.name} holds no file *{ending}; fetch both files of the ELMo into it.")
    options = read_options(published["options.json"])
    weights = read_weights(published["weights.hdf5"], options)
    with torch.device("meta"):  # the weights are all there: making random ones first would take longer than reading
        network = ElmoModel(ElmoConfig(**options, dtype="float32"))
    network.load_state_dict(weights, assign=True)
    _save_beside(network, folder)
    return network.eval(), ElmoTokenizer(network.config.max_characters)


def _load_converted(folder: Path) -> ElmoModel:
    again = f"Delete config.json and model.safetensors in {folder.name} and load the model again."
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        if config.get("model_type") != "elmo" or config.get("input") == "tokens":
            raise ModelRefused(f"{folder.name} holds a model that is no ELMo over characters; choose another folder.")
        network, report = ElmoModel.from_pretrained(
            folder, dtype=torch.float32, use_safetensors=True, local_files_only=True, output_loading_info=True
        )
    except (OSError, ValueError, AttributeError, RuntimeError, SafetensorError, StrictDataclassError) as error:
        raise ModelRefused(f"The ELMo in {folder.name} is damaged. {again}") from error
    if report["missing_keys"] or report["unexpected_keys"] or report["mismatched_keys"]:
        raise ModelRefused(f"The weights of the ELMo in {folder.name} do not fit its config.json. {again}")
    return network.eval()


def _save_beside(network: ElmoModel, folder: Path) -> None:
    try:
        with TemporaryDirectory(dir=folder, prefix=".converting-") as unfinished:
            network.save_pretrained(unfinished)
            for name in ("model.safetensors", "config.json"):  # whoever sees the second finds the first complete
                os.replace(Path(unfinished) / name, folder / name)
    except (OSError, SafetensorError) as error:  # a read-only folder or a full disk: the model works all the same
        log.warning("%s was not converted, so every load reads HDF5: %s", folder.name, error)
