"""The memory of the program after questions over HTTP whose answers nobody fetches, round after round.

    python benchmarks/unread_answers.py [--rounds 4] [--questions 60] [--characters 19900] [--json]

With EXPLORER_MOST_UNREAD_MIB=100000 none is dropped, so that the first round tells how many times its length an answer
takes in memory.
"""

import argparse
import json
import sys
import time

import psutil
from measuring import describe_machine, print_table
from serving import read, serving

MIB = 2**20
MODEL = "MiniLM (masked)"
SETTLED_SECONDS = 12  # the program looks every 5 s for what nobody fetched
WORDS = "the cat sat on a mat and played with a ball "


def ask(address: str, text: str) -> str:
    """Ask for the tokens of a text, as curl does; the event under which the answer can be fetched."""
    asked = {"text": text, "model": MODEL}
    return json.loads(read(f"{address}gradio_api/call/v2/tokenize_text", asked))["event_id"]


def fetch(address: str, event: str) -> int:
    """The bytes of an answer."""
    return len(read(f"{address}gradio_api/call/v2/tokenize_text/{event}"))


def measure(rounds: int, questions: int, characters: int) -> dict[str, object]:
    """Ask, fetch nothing but a last short answer, and look at the memory once it settled."""
    with serving() as address:
        [server] = psutil.Process().children()
        text = (WORDS * (characters // len(WORDS) + 1))[:characters]
        size_bytes = fetch(address, ask(address, text))
        time.sleep(SETTLED_SECONDS)
        memory = [server.memory_info().rss / MIB]
        for number in range(rounds):
            for index in range(questions):
                ask(address, f"{number} {index} {text}"[:characters])
            fetch(address, ask(address, "All of these are answered by now."))
            time.sleep(SETTLED_SECONDS)
            memory.append(server.memory_info().rss / MIB)
    return {"answer_bytes": size_bytes, "memory_mib": memory, "grown_mib": memory[-1] - memory[0]}


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--questions", type=int, default=60, help="of each round")
    parser.add_argument("--characters", type=int, default=19_900, help="of each question")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = measure(given.rounds, given.questions, given.characters)
    if given.json:
        json.dump(found | {"machine": describe_machine()}, sys.stdout, indent=2)
        return
    title = f"{given.questions} answers of {found['answer_bytes']:,} bytes a round, none of them fetched"
    rows = [[str(number), f"{memory:,.0f}"] for number, memory in enumerate(found["memory_mib"])]
    print_table(title, ["round", "memory, MiB"], rows)
    grown = found["memory_mib"][1] - found["memory_mib"][0]
    times = grown * MIB / (given.questions * found["answer_bytes"])
    print(f"\nThe first round took {grown:.0f} MiB, {times:.1f} times what its answers are long.")


if __name__ == "__main__":
    main()
