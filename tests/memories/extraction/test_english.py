"""What English sentences become, and which become nothing."""

from datetime import datetime, timedelta, timezone

import pytest

from memories.extraction.bundled import BundledExtractor
from memories.extraction.types import Extraction, Said, TurnText

# A Saturday.
SPOKEN_AT = datetime(2026, 11, 21, 10, 0, tzinfo=timezone(timedelta(hours=8)))


def _extracted(text: str) -> Extraction:
    turn = TurnText(Said(text, SPOKEN_AT), Said("", SPOKEN_AT))
    return BundledExtractor().extract(turn)


STATEMENTS: list[tuple[str, list[tuple[str, str]]]] = [
    ("I've got two boys, Noah and Eli", [("fact", "Has two boys, Noah and Eli")]),
    ("I'm 6 months pregnant.", [("fact", "Is 6 months pregnant")]),
    ("It's my birthday on Saturday!", [("fact", "Has a birthday on 2026-11-21")]),
    (
        "Hi, I'm Priya and I teach chemistry at a high school in Bristol.",
        [("fact", "Name is Priya"), ("fact", "Teaches chemistry at a high school in Bristol")],
    ),
    ("People call me Max.", [("fact", "Name is Max")]),
    ("My wife's name is Joanna.", [("fact", "Wife's name is Joanna")]),
    ("My twin brother Tom is a firefighter.", [("fact", "Twin brother Tom is a firefighter")]),
    ("I'm a software developer from Lisbon.", [("fact", "Is a software developer from Lisbon")]),
    ("I've lived in Glasgow since 2015.", [("fact", "Has lived in Glasgow since 2015")]),
    ("We moved into a new flat last Saturday.", [("event", "Moved into a new flat on 2026-11-14")]),
    (
        "I share a house with three other students.",
        [("fact", "Shares a house with three other students")],
    ),
    ("My son is allergic to eggs.", [("constraint", "Son is allergic to eggs")]),
    ("I have a severe latex allergy.", [("constraint", "Has a severe latex allergy")]),
    ("I'm lactose intolerant, so no milk for me.", [("constraint", "Lactose intolerant")]),
    ("I never eat pork.", [("constraint", "Never eats pork")]),
    ("My mum can't have gluten.", [("constraint", "Mum can't have gluten")]),
    ("I gave up alcohol two years ago.", [("constraint", "Gave up alcohol in 2024")]),
    (
        "I was diagnosed with ADHD last spring.",
        [("fact", "Was diagnosed with ADHD in spring 2025")],
    ),
    ("My dad has Parkinson's.", [("fact", "Dad has Parkinson's")]),
    ("I'm scared of flying.", [("constraint", "Afraid of flying")]),
    ("I wear hearing aids.", [("fact", "Wears hearing aids")]),
    ("I'm colour-blind.", [("fact", "Colour-blind")]),
    ("I had knee surgery in March.", [("event", "Had knee surgery in 2026-03")]),
    ("I'm really into bouldering.", [("preference", "Is into bouldering")]),
    ("I absolutely adore Thai food.", [("preference", "Adores Thai food")]),
    ("I despise small talk at parties.", [("preference", "Despises small talk at parties")]),
    ("I'm not a fan of horror movies.", [("preference", "Isn't a fan of horror movies")]),
    (
        "My favourite author is Ursula Le Guin.",
        [("preference", "Favourite author is Ursula Le Guin")],
    ),
    ("Sushi is my favourite food.", [("preference", "Favourite food is Sushi")]),
    ("I'd rather walk than drive.", [("preference", "Would rather walk than drive")]),
    ("I prefer tea over coffee.", [("preference", "Prefers tea over coffee")]),
    ("I've always loved astronomy.", [("preference", "Has always loved astronomy")]),
    ("My hobbies are chess and fly fishing.", [("fact", "Hobbies are chess and fly fishing")]),
    ("I go to the gym three times a week.", [("pattern", "Goes to the gym three times a week")]),
    ("I usually have oatmeal for breakfast.", [("pattern", "Usually has oatmeal for breakfast")]),
    ("Every Sunday I call my grandmother.", [("pattern", "Calls their grandmother every Sunday")]),
    ("I meditate before bed.", [("pattern", "Meditates before bed")]),
    ("I've been playing the violin since I was six.", [("skill", "Has been playing the violin")]),
    (
        "I've been vegetarian for eight years.",
        [("constraint", "Vegetarian for eight years (as of 2026-11)")],
    ),
    (
        "I speak fluent Spanish and some Portuguese.",
        [("skill", "Speaks fluent Spanish and some Portuguese")],
    ),
    ("I can play the saxophone.", [("skill", "Can play the saxophone")]),
    ("I'm good at fixing bikes.", [("skill", "Good at fixing bikes")]),
    ("I know how to sail.", [("skill", "Knows how to sail")]),
    (
        "I have a dentist appointment tomorrow.",
        [("task", "Has a dentist appointment on 2026-11-22")],
    ),
    ("My thesis is due on May 20.", [("task", "Thesis is due on 2027-05-20")]),
    ("We're flying to Rome on Friday.", [("task", "Is flying to Rome on 2026-11-27")]),
    (
        "I want to learn how to surf this summer.",
        [("task", "Wants to learn how to surf in summer 2026")],
    ),
    (
        "I'm planning to open a bookshop next year.",
        [("task", "Is planning to open a bookshop in 2027")],
    ),
    ("I'm training for the Boston marathon.", [("task", "Is training for the Boston marathon")]),
    ("I'm writing a novel about lighthouses.", [("task", "Is writing a novel about lighthouses")]),
    (
        "I've signed up for a pottery course next month.",
        [("task", "Has signed up for a pottery course in 2026-12")],
    ),
    (
        "My goal is to read fifty books this year.",
        [("task", "Goal is to read fifty books in 2026")],
    ),
    ("I'm saving for a new camera.", [("task", "Is saving for a new camera")]),
    ("I'd love to visit Japan one day.", [("task", "Would love to visit Japan one day")]),
    ("My daughter starts school in September.", [("task", "Daughter starts school in 2027-09")]),
    ("I got a new job at a design studio.", [("event", "Got a new job at a design studio")]),
    (
        "I graduated from Leeds University in 2019.",
        [("fact", "Graduated from Leeds University in 2019")],
    ),
    ("I lost my job last month.", [("event", "Lost their job in 2026-10")]),
    ("My grandfather died when I was ten.", [("event", "Grandfather died")]),
    ("My sister just had a baby boy.", [("fact", "Sister had a baby boy")]),
    (
        "I'm engaged to my high school sweetheart.",
        [("fact", "Engaged to their high school sweetheart")],
    ),
    (
        "We have a golden retriever called Biscuit.",
        [("fact", "Has a golden retriever called Biscuit")],
    ),
    ("I've got two cats and a tortoise.", [("fact", "Has two cats and a tortoise")]),
    ("My husband is from Brazil.", [("fact", "Husband is from Brazil")]),
    ("I have three brothers.", [("fact", "Has three brothers")]),
    ("My best friend Lena lives in Vienna.", [("fact", "Best friend Lena lives in Vienna")]),
    ("I live alone in a small cottage.", [("fact", "Lives alone in a small cottage")]),
    ("I work night shifts at a bakery.", [("fact", "Works night shifts at a bakery")]),
    ("I'm a single mom of two.", [("fact", "Is a single mom of two")]),
    ("I'm a huge Liverpool fan.", [("preference", "Is a huge Liverpool fan")]),
    ("My phone is a Pixel 8.", [("fact", "Phone is a Pixel 8")]),
    ("I bought a house in 2021.", [("fact", "Bought a house in 2021")]),
    ("I used to be a professional dancer.", [("fact", "Used to be a professional dancer")]),
    ("I'm retired now.", [("fact", "Retired")]),
    ("Please keep your replies brief.", [("preference", "Prefers brief answers")]),
    (
        "From now on, reply in German.",
        [("preference", "Wants the assistant to always reply in German")],
    ),
    (
        "Never recommend seafood restaurants to me.",
        [("constraint", "Doesn't want the assistant to recommend seafood restaurants to them")],
    ),
    ("I code mostly in Rust.", [("skill", "Codes mostly in Rust")]),
    ("My blood type is O negative.", [("fact", "Blood type is O negative")]),
    (
        "I won a photography contest last week.",
        [("event", "Won a photography contest in the week of 2026-11-09")],
    ),
    ("I take the bus to work.", [("fact", "Takes the bus to work")]),
    (
        "My boyfriend and I are moving to Porto in June.",
        [("task", "Is moving to Porto in 2027-06")],
    ),
    ("I'm 42.", [("fact", "Is 42 (as of 2026-11)")]),
    (
        "I met my husband at a concert in 2012.",
        [("event", "Met their husband at a concert in 2012")],
    ),
    ("I hate getting up early.", [("preference", "Hates getting up early")]),
    ("I don't drive.", [("fact", "Doesn't drive")]),
    ("I'm on antidepressants.", [("fact", "Is on antidepressants")]),
    ("I work at Bosch, I have for ten years now.", [("fact", "Works at Bosch")]),
    ("My brother and I own a surf shop.", [("fact", "Owns a surf shop")]),
    ("I'm half Irish, half Polish.", [("fact", "Is half Irish, half Polish")]),
    ("Not a fan of cilantro tbh.", [("preference", "Isn't a fan of cilantro")]),
    (
        "I have been a nurse for 12 years and honestly I'm burnt out.",
        [("fact", "Has been a nurse for 12 years")],
    ),
    ("My kids are 7 and 9.", [("fact", "Kids are 7 and 9 (as of 2026-11)")]),
    ("My daughter Ella turned 6 yesterday!", [("fact", "Daughter Ella turned 6 on 2026-11-20")]),
    ("My mom makes the best lasagna.", [("fact", "Mom makes the best lasagna")]),
    ("We're having a baby in April!", [("fact", "Is having a baby in 2027-04")]),
    (
        "I've just started a new role as head of marketing at Volvo.",
        [("event", "Started a new role as head of marketing at Volvo")],
    ),
    ("I prefer window seats when I fly.", [("preference", "Prefers window seats")]),
    ("I moved here from Chile three years ago.", [("event", "Moved from Chile in 2023")]),
    ("I no longer work at Nokia.", [("fact", "No longer works at Nokia")]),
    (
        "I'm not working at Nokia anymore, I joined Ericsson.",
        [("fact", "Isn't working at Nokia anymore"), ("event", "Joined Ericsson")],
    ),
    (
        "I grew up on a farm in Iowa with four siblings.",
        [("fact", "Grew up on a farm in Iowa with four siblings")],
    ),
    ("Coffee gives me migraines.", [("constraint", "Gets ill from coffee")]),
    (
        "My roommate is allergic to cats so we can't have pets.",
        [("constraint", "Roommate is allergic to cats"), ("constraint", "Can't have pets")],
    ),
    (
        "I'm taking Spanish lessons on Tuesdays.",
        [("task", "Is taking Spanish lessons on Tuesdays")],
    ),
    (
        "I'm moving out of my parents' house next week.",
        [("task", "Is moving out of their parents' house in the week of 2026-11-23")],
    ),
    (
        "I hate flying but I love trains.",
        [("preference", "Hates flying"), ("preference", "Loves trains")],
    ),
    ("You can call me Lex.", [("fact", "Name is Lex")]),
    (
        "I'll be in Madrid from June 3 to June 10.",
        [("task", "Will be in Madrid from 2027-06-03 to 2027-06-10")],
    ),
    (
        "I volunteer at an animal shelter on weekends.",
        [("pattern", "Volunteers at an animal shelter on weekends")],
    ),
    (
        "My project is a habit tracker app written in Django.",
        [("fact", "Project is a habit tracker app written in Django")],
    ),
    (
        "I'm building a mobile game called Skyfall with two friends.",
        [("task", "Is building a mobile game called Skyfall with two friends")],
    ),
    ("Our startup makes solar chargers.", [("fact", "Startup makes solar chargers")]),
    ("My manager Greta is leaving in December.", [("task", "Manager Greta is leaving in 2026-12")]),
    ("I take my coffee black.", [("preference", "Takes their coffee black")]),
    ("I'm a night owl.", [("fact", "Is a night owl")]),
    ("I've never been to Asia.", [("fact", "Has never been to Asia")]),
    ("I can't eat dairy, it upsets my stomach.", [("constraint", "Can't eat dairy")]),
    ("I stopped eating meat in January.", [("constraint", "Stopped eating meat in 2026-01")]),
    ("I quit smoking in 2019.", [("constraint", "Quit smoking in 2019")]),
    ("I was laid off in October.", [("event", "Was laid off in 2026-10")]),
    ("I failed my driving test yesterday.", [("event", "Failed their driving test on 2026-11-20")]),
    ("I adopted two kittens, Salt and Pepper.", [("fact", "Adopted two kittens, Salt and Pepper")]),
    ("My cat died last week.", [("event", "Cat died in the week of 2026-11-09")]),
    ("I drink oat milk because I'm lactose intolerant.", [("constraint", "Lactose intolerant")]),
    ("I have ADHD so please keep things structured.", [("fact", "Has ADHD")]),
    (
        "I'm in my final year of law school at NYU.",
        [("fact", "Is in their final year of law school at NYU")],
    ),
    ("I'm Jewish and I keep kosher.", [("fact", "Jewish"), ("constraint", "Keeps kosher")]),
    ("My anniversary is June 12.", [("fact", "Anniversary is June 12")]),
    ("I run 5k every morning.", [("pattern", "Runs 5k every morning")]),
    ("I like my steak rare.", [("preference", "Likes their steak rare")]),
    ("We named our son Felix.", [("fact", "Named their son Felix")]),
    ("I'm thinking about getting a dog.", [("task", "Is thinking about getting a dog")]),
    (
        "I need to renew my passport by March 1.",
        [("task", "Needs to renew their passport by 2027-03-01")],
    ),
    ("Remind me to call the bank on Monday.", [("task", "Needs to call the bank on 2026-11-23")]),
    (
        "I got divorced two years ago and I have joint custody of my daughter.",
        [("event", "Got divorced in 2024"), ("fact", "Has joint custody of their daughter")],
    ),
    ("I'm terrible with names.", [("fact", "Terrible with names")]),
    (
        "I learned to play the banjo during lockdown.",
        [("skill", "Learned to play the banjo during lockdown")],
    ),
    ("I'm bilingual in Catalan and Spanish.", [("fact", "Bilingual in Catalan and Spanish")]),
]

NOTHING_TO_KEEP = [
    "I'm about to start dinner.",
    "My laptop is broken.",
    "I always forget that.",
    "I don't have any allergies.",
    "I don't have asthma.",
    "What time is it in Tokyo?",
    "Do you think I should learn Rust?",
    "Could you recommend a good book?",
    "How do I cook rice?",
    "Am I allergic to nuts?",
    "Where do I live?",
    "Should I move to Berlin?",
    "It's raining again today.",
    "The weather is lovely this morning.",
    "Good morning! How are you?",
    "Thanks, that was really helpful.",
    "I'm so hungry right now.",
    "I'm tired and I want to sleep.",
    "I feel sad today.",
    "I have a headache.",
    "I'm on the bus right now.",
    "I'm going to the shop, back in a minute.",
    "I'll think about it.",
    "I'll try your suggestion.",
    "I want to ask you something.",
    "I'd like to know more about this.",
    "I love this song!",
    "I like your idea.",
    "I like that.",
    "I hate this bug.",
    "If I had a dog, I'd call him Rex.",
    "If I were a doctor, I would live in Boston.",
    "I wish I lived by the sea.",
    "Imagine I'm a pirate who lives on a ship.",
    "Suppose I work at NASA, what would my day look like?",
    "Let's pretend I'm your boss.",
    "Oh great, I just love getting stuck in traffic.",
    "Yeah right, I'm a millionaire.",
    "I'm a unicorn, just kidding.",
    "I'm allergic to Mondays.",
    "I love doing my taxes.",
    "He lives in Paris and works at a bank.",
    "She said I'm a good cook.",
    "My friend told me I should be a lawyer.",
    '"I live in Paris," he said.',
    "My boss thinks I'm lazy.",
    "They say I look like my father.",
    "Translate into French: I live in Oslo and I have a dog.",
    "Write a poem about a man who says my name is Jack.",
    "Summarize this: My name is John and I work at Google.",
    "Fix the grammar: I has two cat.",
    "In my novel, my character is a vampire who lives in Prague.",
    "I don't know.",
    "I have no idea what you mean.",
    "I have a question about Python.",
    "I have to go now.",
    "I need help with my homework.",
    "I see what you mean.",
    "I used your code and it works.",
    "I'm just looking around.",
    "I can't find the button.",
    "I can't believe it!",
    "I got an error when I ran the script.",
    "I tried that already.",
    "I agree with you.",
    "I saw a funny video.",
    "I ate a sandwich.",
    "I'm not sure.",
    "I'm kidding, I hate dogs.",
    "You are very smart.",
    "Python is a great language.",
    "The capital of France is Paris.",
    "I'm dying of laughter.",
    "I could eat a horse.",
    "I will be right back.",
    "I think so too.",
    "It depends.",
    "What if I told you I was born on Mars?",
    "I'm sorry to hear that.",
    "I hope you are well.",
    "I was wondering if you could help me.",
    "You said I live in London.",
    "I don't want to talk right now.",
    "I do not understand this.",
    "I have been waiting for an hour.",
    "I am writing to complain about the service.",
    "I'm working on it.",
    "I'm looking for a good laptop.",
    "I'm reading your answer now.",
]


@pytest.mark.parametrize(("said", "expected"), STATEMENTS, ids=[said for said, _ in STATEMENTS])
def test_a_statement_becomes_memories_that_stand_alone(
    said: str, expected: list[tuple[str, str]]
) -> None:
    candidates = _extracted(said).candidates

    assert [(candidate.kind, candidate.content) for candidate in candidates] == expected
    for candidate in candidates:
        end = candidate.quote_start + len(candidate.quote)
        assert said[candidate.quote_start : end] == candidate.quote
        assert candidate.language == "en"
        assert candidate.importance >= (0.8 if candidate.kind == "constraint" else 0.3)
        assert candidate.reasons


@pytest.mark.parametrize("said", NOTHING_TO_KEEP)
def test_small_talk_questions_and_fiction_leave_nothing(said: str) -> None:
    extraction = _extracted(said)

    assert extraction.candidates == ()
    assert extraction.forget == ()
