"""The losses of all readers at once: against the labels, and against the teachers' answers."""

import torch
from torch import Tensor
from torch.nn import functional as f

from memories.reader.statements import FLAGS, PAIRS, SECRET, TAGS, head_slices

WEIGHTS = {
    "tags": 1.0,
    "secret": 0.5,
    "keep": 1.0,
    "kind": 0.3,
    "topic": 0.2,
    "whose": 0.5,
    "holds": 0.3,
    "said": 0.5,
    "change": 0.3,
    "flags": 1.0,
    "relation": 1.0,
    "about": 0.5,
}
SMOOTHING = 0.05
RARE = 4.0  # weight of a positive flag or secret, since most messages have none
_STATES = 0.1  # weight of the squared difference of the scores of single tokens


def losses(batch: dict[str, Tensor], tokens: Tensor, texts: Tensor) -> dict[str, Tensor]:
    """Return the mean loss of each head over all members; heads without a label give 0."""
    found = {
        "tags": choice(tokens[..., : len(TAGS)], batch["tags"]),
        "secret": yes_or_no(tokens[..., SECRET], batch["secret"], RARE),
        "flags": yes_or_no(texts[..., : len(FLAGS)], batch["flags"], RARE) * 3,
        "relation": choice(texts[..., len(FLAGS) : len(FLAGS) + len(PAIRS)], batch["relation"]),
        "about": yes_or_no(texts[..., len(FLAGS) + len(PAIRS)], batch["about"], 1.0),
    }
    means = span_means(tokens, batch["spans"])
    for number, (head, place) in enumerate(head_slices().items()):
        found[head] = choice(means[..., place], batch["spans"][..., 2 + number])
    return found


def span_means(tokens: Tensor, spans: Tensor) -> Tensor:
    """Return the mean of the token scores over each span."""
    total = f.pad(tokens.float().cumsum(-2), (0, 0, 1, 0))
    start, end = spans[..., 0], spans[..., 1]

    def at(place: Tensor) -> Tensor:
        return total.gather(-2, place[..., None].expand(*place.shape, total.shape[-1]))

    return (at(end) - at(start)) / (end - start).clamp(min=1)[..., None]


def choice(scores: Tensor, answers: Tensor) -> Tensor:
    """Return the mean loss of the right classes; a negative answer is no label."""
    flat, right = scores.flatten(0, -2), answers.flatten()
    known = right >= 0
    lost = f.cross_entropy(flat, right.clamp(min=0), label_smoothing=SMOOTHING, reduction="none")
    return (lost * known).sum() / known.sum().clamp(min=1)


def yes_or_no(scores: Tensor, answers: Tensor, rare: float) -> Tensor:
    """Return the mean loss of answers 0 and 1, of which 1 weighs `rare`; a negative one is none."""
    known = answers >= 0
    lost = f.binary_cross_entropy_with_logits(
        scores, answers.clamp(min=0).float(), pos_weight=scores.new_full((), rare), reduction="none"
    )
    return (lost * known).sum() / known.sum().clamp(min=1)


def weighted(found: dict[str, Tensor]) -> Tensor:
    return torch.stack([WEIGHTS[name] * value for name, value in found.items()]).sum()


def soft_losses(
    batch: dict[str, Tensor], own: tuple[Tensor, Tensor], theirs: tuple[Tensor, Tensor]
) -> dict[str, Tensor]:
    """Return the loss of each head of the student against the teachers' mean probabilities.

    `theirs` has the scores of each teacher, (members, batch, …); `own` has those of the student,
    with one member.
    """
    (tokens, texts), (their_tokens, their_texts) = own, theirs
    ours = batch["own"].bool()
    flags, pairs = len(FLAGS), len(PAIRS)
    is_message = ours.any(-1)
    found = {
        "tags": _near(tokens[..., : len(TAGS)], their_tokens[..., : len(TAGS)], ours),
        "secret": _near_yes(tokens[..., SECRET], their_tokens[..., SECRET], ours),
        "flags": _near_yes(texts[..., :flags], their_texts[..., :flags], is_message[..., None]) * 3,
        "relation": _near(
            texts[..., flags : flags + pairs], their_texts[..., flags : flags + pairs], ~is_message
        ),
        "about": _near_yes(texts[..., flags + pairs], their_texts[..., flags + pairs], ~is_message),
    }
    spans = batch["spans"]
    means = span_means(tokens, spans)
    their_means = span_means(their_tokens, spans.expand(len(their_tokens), *spans.shape[1:]))
    for number, (head, place) in enumerate(head_slices().items()):
        known = spans[..., 2 + number] >= 0
        found[head] = _near(means[..., place], their_means[..., place], known)
        centred = tokens[..., place] - tokens[..., place].mean(-1, keepdim=True)
        goal = their_tokens[..., place].mean(0, keepdim=True)
        goal = goal - goal.mean(-1, keepdim=True)
        apart = ((centred - goal) ** 2).mean(-1)
        found[head] = found[head] + _STATES * (apart * ours).sum() / ours.sum().clamp(min=1)
    return found


def _near(scores: Tensor, theirs: Tensor, known: Tensor) -> Tensor:
    goal = theirs.softmax(-1).mean(0, keepdim=True)
    lost = -(goal * scores.log_softmax(-1)).sum(-1)
    return (lost * known).sum() / known.sum().clamp(min=1)


def _near_yes(scores: Tensor, theirs: Tensor, known: Tensor) -> Tensor:
    goal = theirs.sigmoid().mean(0, keepdim=True)
    lost = f.binary_cross_entropy_with_logits(scores, goal, reduction="none")
    known = known.expand_as(lost)
    return (lost * known).sum() / known.sum().clamp(min=1)
