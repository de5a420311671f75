"""Sentences of our own with one blank each, and the word that was taken out."""

SENTENCES = (
    ("The cat ___ on the mat.", "slept"),
    ("She opened the ___ and walked into the kitchen.", "door"),
    ("It rained all night, so the streets were ___.", "wet"),
    ("My brother is older ___ I am.", "than"),
    ("The keys to the cabinet ___ on the table.", "are"),
    ("Paris is the capital of ___.", "France"),
    ("Water freezes at zero ___.", "degrees"),
    ("He forgot his umbrella and got ___ on the way home.", "soaked"),
    ("The doctor told the patient that ___ would be well again soon.", "he"),
    ("The children were playing ___ in the garden.", "football"),
    ("I would like a cup of ___ with milk.", "tea"),
    ("The train left the ___ ten minutes late.", "station"),
    ("A spider has eight ___.", "legs"),
    ("The film was so boring that I fell ___.", "asleep"),
    ("They have lived in this ___ for twenty years.", "house"),
    ("The opposite of hot is ___.", "cold"),
    ("The sun rises in the ___.", "east"),
    ("We bought fresh bread at the ___.", "bakery"),
    ("The lawyer asked the witness a difficult ___.", "question"),
    ("In winter the lake is covered with ___.", "ice"),
    ("The king and the ___ sat side by side.", "queen"),
    ("Bees make ___.", "honey"),
    ("She has been working here ___ 2015.", "since"),
    ("The book that I borrowed from the library ___ very long.", "was"),
    ("Nobody ___ the answer to the last riddle.", "knew"),
    ("The orchestra played a symphony by ___.", "Beethoven"),
    ("He wrote the letter with a blue ___.", "pen"),
    ("After the storm the ship returned to the ___.", "harbour"),
    ("The teacher wrote the sum on the ___.", "blackboard"),
    ("Three plus four is ___.", "seven"),
    ("The meeting was moved from Monday to ___.", "Tuesday"),
    ("The soup needs a little more ___.", "salt"),
    ("You should never ___ a promise.", "break"),
    ("The mountain is covered with snow even in ___.", "summer"),
    ("Her grandmother told her an old ___ before she went to sleep.", "story"),
    ("The river flows into the ___.", "sea"),
    ("The government raised the ___ on petrol last year.", "tax"),
    ("The dog wagged its ___ when it saw us.", "tail"),
    ("The scientists published their ___ in a journal.", "results"),
    ("If I had known that, I would have ___ earlier.", "come"),
    ("The farmer milks the ___ every morning.", "cows"),
    ("The piano is out of ___.", "tune"),
    ("This road leads to the ___ of the city.", "centre"),
    ("The judge found the man not ___.", "guilty"),
    ("He speaks Spanish and ___ fluently.", "Italian"),
    ("The baby began to ___ when the light went out.", "cry"),
    ("Most birds can ___, but penguins cannot.", "fly"),
    ("The police are looking for the ___ of the car.", "owner"),
    ("The moon goes around the ___.", "earth"),
    ("All that glitters is not ___.", "gold"),
)

SENTENCES_BEFORE = (0, 0, 1, 0, 2, 1, 4, 8)  # most texts that people type are short, and some are a paragraph


def mixed_texts(count: int) -> list[str]:
    """Texts with one blank each, from one sentence to nine."""
    filled = [sentence.replace("___", word) for sentence, word in SENTENCES]
    texts = []
    for number in range(count):
        before = [filled[(number * 7 + step) % len(filled)] for step in range(SENTENCES_BEFORE[number % 8])]
        texts.append(" ".join([*before, SENTENCES[number % len(SENTENCES)][0]]))
    return texts
