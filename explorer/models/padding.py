"""Whether a row may be padded to the length of its neighbours in a batch.

Some architectures heed the mask of padding in part or not at all (FNet mixes all places of a row by a Fourier
transform, Funnel pools neighbours, YOSO hashes them), so that an answer would depend on who else asks. Which do is
tried on the model itself, once, rather than listed.
"""

from weakref import WeakKeyDictionary

import torch
from torch import nn

from explorer.models.backend import LoadedModel
from explorer.models.memory import is_out_of_memory

SHORT_TOKENS, LONG_TOKENS = 5, 16
TOLERANCE = {torch.float32: 1e-3}  # of the largest number; other kernels run where there is a mask
HALF_TOLERANCE = 0.05  # bfloat16 has 8 bits

_known: WeakKeyDictionary[LoadedModel, bool] = WeakKeyDictionary()  # goes when the model does


def may_be_padded(model: LoadedModel, body: nn.Module) -> bool:
    """Whether a row gives the same vectors alone and padded; tried at the first call for a model, by two short passes.

    Args:
        model: Reads token ids.
        body: What makes one vector for each token of it: its network without the head, or its encoder.

    Returns:
        False = rows of a batch must have equal lengths.
    """
    safe = _known.get(model)
    if safe is None:  # two who ask at once find the same
        safe = _known[model] = _try(model, body)
    return safe


@torch.inference_mode()
def _try(model: LoadedModel, body: nn.Module) -> bool:
    longest = min(LONG_TOKENS, model.limit_tokens)
    short = min(SHORT_TOKENS, longest)
    vocabulary = len(model.network.get_input_embeddings().weight)
    ids = torch.randint(vocabulary, (1, longest), generator=torch.Generator().manual_seed(0)).to(model.network.device)
    mask = (torch.arange(longest, device=ids.device) < short).long()[None]
    padded_ids = torch.where(mask.bool(), ids, getattr(model.network.config, "pad_token_id", None) or 0)
    try:
        alone = body(input_ids=ids[:, :short], attention_mask=None, return_dict=True)[0]
        padded = body(input_ids=padded_ids, attention_mask=mask, return_dict=True)[0][:, :short]
    except (TypeError, ValueError, RuntimeError) as error:  # it takes no mask, or cannot bear one
        if is_out_of_memory(error):
            raise
        return False
    tolerance = TOLERANCE.get(alone.dtype, HALF_TOLERANCE)
    return bool((alone - padded).abs().max() <= tolerance * alone.abs().max())
