"""The boxes of the view "Try it", task by task."""

BOXES = {  # task -> labels of the two boxes; "" = there is no second one
    "classification": ("Sentence", ""),
    "pairs": ("First sentence (premise)", "Second sentence (hypothesis)"),
    "tagging": ("Sentence", ""),
    "answers": ("Question", "Passage that holds the answer"),
    "similarity": ("One sentence", "Another sentence"),
    "masked": ("Sentence with a blank: ___", ""),
    "causal": ("Beginning of a text", ""),
    "text_to_text": ("Text", ""),
}
FIRST = {  # task -> what stands in the boxes where the model learned from our own examples
    "classification": ("The parcel came two weeks late, and the box was open.", ""),
    "pairs": ("A woman is playing the violin on the stairs.", "Somebody is making music."),
    "tagging": ("Ada Lovelace wrote from London to Charles Babbage.", ""),
    "answers": ("Where did the ship sink?", "The Morning Star left Bristol in May and sank off Cape Town in a storm."),
    "similarity": ("The shop opens at nine.", "Nobody can buy anything there before nine o'clock."),
    "masked": ("The queen lays her eggs in the ___.", ""),
    "causal": ("In spring the bees", ""),
    "text_to_text": ("She plays the piano every evening.", ""),
}


def refusal(task: str, text: str, second: str) -> str:
    """Why nothing can be asked of what stands in the boxes, and what to do; "" = it can.

    Args:
        task: A key of TASKS.
        text: In the first box.
        second: In the second.
    """
    if not text.strip() or (BOXES[task][1] and not second.strip()):
        boxes = "each of the two boxes" if BOXES[task][1] else "the box"
        return f"There is nothing to judge yet. Write a sentence into {boxes}."
    return ""
