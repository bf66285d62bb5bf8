"""English word lists. Adding a word here is all that a new job, relative or illness needs."""


def words(text: str) -> str:
    """An alternation of the words, longest first, so that "step mother" wins over "mother"."""
    parts = [part.strip() for part in text.replace("\n", ",").split(",") if part.strip()]
    return "|".join(sorted(set(parts), key=len, reverse=True))


RELATIONS = words("""
    mother, mom, mum, mommy, mummy, father, dad, daddy, parents, folks, sister, sisters, brother,
    brothers, siblings, son, sons, daughter, daughters, kid, kids, child, children, baby, twins,
    toddler, wife, husband, partner, spouse, fiance, fiancee, fiancé, fiancée, boyfriend,
    girlfriend, ex, ex-wife, ex-husband, ex-girlfriend, ex-boyfriend, grandmother, grandfather,
    grandma, grandpa, granny, nan, nana, gran, grandad, granddad, grandparents, grandson,
    granddaughter, grandkids, grandchildren, aunt, auntie, uncle, cousin, cousins, niece, nieces,
    nephew, nephews, mother-in-law, father-in-law, sister-in-law, brother-in-law, son-in-law,
    daughter-in-law, in-laws, stepmother, stepfather, stepmom, stepdad, stepson, stepdaughter,
    stepsister, stepbrother, half-sister, half-brother, godmother, godfather, godson, goddaughter,
    family, friend, friends, buddy, bestie, roommate, roommates, flatmate, flatmates, housemate,
    neighbor, neighbour, colleague, colleagues, coworker, co-worker, coworkers, boss, manager,
    mentor, coach, trainer, teacher, tutor, therapist, doctor, dentist, landlord, supervisor,
    advisor, business partner, assistant, nanny, team, company, startup, employer, band, club,
    cofounder, co-founder, dog, dogs, puppy, puppies, cat, cats, kitten, kittens, rabbit, bunny,
    parrot, hamster, guinea pig, horse, pony, goldfish, turtle, tortoise, bird, budgie, ferret,
    lizard, snake, gecko, pet, pets, mum and dad, mom and dad
""")
PLURALS = frozenset(
    "parents folks sisters brothers siblings sons daughters kids children twins grandparents "
    "grandkids grandchildren cousins nieces nephews in-laws friends roommates flatmates colleagues "
    "coworkers dogs puppies cats kittens pets dad".split()
)
RELATION_MODIFIERS = words("""
    older, elder, eldest, oldest, younger, youngest, little, big, baby, twin, best, closest, close,
    late, new, old, dear, only, first, second, middle, adopted, pet, rescue, childhood, lovely,
    beloved, former, current, future, soon-to-be, teenage, newborn, whole, entire, other, own,
    black, white, ginger, golden, tabby, german, university, college, school, work, golf, gym
""")
OWNED = words("""
    name, full name, first name, last name, surname, middle name, nickname, job, profession,
    occupation, day job, job title, major, minor, degree, hometown, home town, birthday, birthdate,
    date of birth, anniversary, wedding anniversary, wedding, hobby, hobbies, main hobby, passion,
    passions, interests, dream, dream job, biggest dream, goal, main goal, goals, native language,
    mother tongue, first language, blood type, height, weight, shoe size, dress size, ring size,
    star sign, zodiac sign, email, email address, phone number, number, twitter handle,
    github username, username, time zone, timezone, pronouns, religion, faith, hair, eyes, car,
    bike, house, apartment, flat, laptop, phone, computer, desk, garden, office, commute, gym,
    project, side project, thesis, dissertation, research, novel, blog, podcast, channel, website,
    app, business, bakery, shop, store, cafe, restaurant, farm, budget, rent, salary, exam, exams,
    interview, flight, appointment, surgery, operation, deadline, visa, lease, contract,
    biggest fear, greatest fear, guilty pleasure, role model, school, university, class,
    classes, shift, shifts, work hours, working hours, day off, days off, diet, allergy, condition
""")
JOBS = words("""
    nurse, teacher, doctor, engineer, developer, programmer, designer, lawyer, attorney, solicitor,
    barrister, accountant, auditor, architect, artist, author, writer, journalist, reporter, editor,
    baker, barber, barista, bartender, biologist, bookkeeper, broker, builder, butcher, carpenter,
    cashier, chef, chemist, cleaner, clerk, coach, consultant, cook, counselor, counsellor, courier,
    dancer, dentist, dietitian, nutritionist, director, driver, economist, electrician,
    entrepreneur, farmer, filmmaker, firefighter, fisherman, florist, freelancer, gardener,
    geologist, hairdresser, hygienist, illustrator, inspector, instructor, interpreter,
    investor, janitor, jeweller, judge, lecturer, librarian, lifeguard, manager,
    marketer, mathematician, mechanic, midwife, minister, model, musician, nanny, notary,
    nun, operator, optician, optometrist, painter, paralegal, paramedic, pastor, pharmacist,
    photographer, physicist, physician, physiotherapist, pianist, pilot, plumber, poet,
    policeman, policewoman, police officer, politician, postman, potter, priest, principal,
    producer, professor, psychiatrist, psychologist, radiographer, radiologist, realtor,
    estate agent, receptionist, recruiter, researcher, sailor, salesman, salesperson, saleswoman,
    scientist, sculptor, secretary, security guard, singer, social worker, soldier, sommelier,
    statistician, stylist, surgeon, surveyor, tailor, technician, therapist, trader, trainer,
    translator, truck driver, tutor, undertaker, veterinarian, vet, videographer, waiter, waitress,
    web developer, welder, zoologist, analyst, administrator, admin, ceo, cto, cfo, founder,
    co-founder, cofounder, product manager, project manager, student, phd student,
    graduate student, grad student, undergraduate, undergrad, freshman, sophomore, intern,
    apprentice, trainee, postdoc, resident, stay-at-home mom, stay-at-home dad, stay-at-home mum,
    homemaker, housewife, househusband, carer, caregiver, youtuber, streamer, blogger, podcaster,
    data scientist, game developer, sysadmin, devops engineer, qa engineer, tester, actor,
    actress, comedian, composer, conductor, drummer, violinist, cellist, guitarist, dj, athlete,
    footballer, gymnast, referee, personal trainer, yoga teacher, yoga instructor, flight attendant,
    customs officer, civil servant, diplomat, astronaut, astronomer, geographer, historian,
    archaeologist, anthropologist, sociologist, philosopher, linguist, neurologist, cardiologist,
    dermatologist, anesthesiologist, anaesthetist, oncologist, pediatrician, paediatrician,
    gynecologist, orthodontist, chiropractor, osteopath, masseuse, beautician, decorator,
    contractor, roofer, bricklayer, blacksmith, beekeeper, brewer, winemaker, veteran, marine,
    shop assistant, teaching assistant, research assistant, personal assistant, executive,
    executive assistant, copywriter, publisher, proofreader, volunteer, mayor, councillor, agent
""")
CONDITIONS = words("""
    asthma, diabetes, type 1 diabetes, type 2 diabetes, epilepsy, adhd, add, autism, dyslexia,
    dyspraxia, tinnitus, migraines, arthritis, rheumatoid arthritis, celiac disease,
    coeliac disease, crohn's, crohn's disease, colitis, ibs, anemia, anaemia, hypertension,
    high blood pressure, low blood pressure, high cholesterol, insomnia, sleep apnea, depression,
    anxiety, social anxiety, an anxiety disorder, bipolar disorder, ptsd, ocd, eczema, psoriasis,
    scoliosis, hay fever, a heart condition, a heart murmur, a bad back, a bad knee, bad knees,
    chronic pain, chronic back pain, back problems, fibromyalgia, endometriosis, pcos, lupus,
    multiple sclerosis, cancer, breast cancer, leukemia, parkinson's, alzheimer's, dementia,
    glaucoma, cataracts, hypothyroidism, a thyroid condition, gout, osteoporosis, a stammer,
    a stutter, hearing loss, long covid, a pacemaker, acid reflux, a nut allergy, a peanut allergy,
    a prosthetic leg, vertigo, claustrophobia, arachnophobia, sciatica, tendonitis
""")
NATIONALITIES = words("""
    american, british, english, scottish, welsh, irish, french, german, italian, spanish,
    portuguese, dutch, belgian, swiss, austrian, polish, czech, slovak, hungarian, romanian,
    bulgarian, greek, turkish, russian, ukrainian, swedish, norwegian, danish, finnish, icelandic,
    estonian, latvian, lithuanian, serbian, croatian, bosnian, albanian, canadian, mexican,
    brazilian, argentinian, argentine, chilean, colombian, peruvian, venezuelan, cuban,
    chinese, japanese, korean, vietnamese, thai, indonesian, malaysian, filipino, filipina,
    singaporean, taiwanese, indian, pakistani, bangladeshi, nepali, iranian, persian, iraqi,
    israeli, lebanese, syrian, egyptian, moroccan, algerian, tunisian, nigerian, ghanaian, kenyan,
    ethiopian, south african, australian, kiwi, catalan, basque
""")
LANGUAGES = words("""
    english, french, german, italian, spanish, portuguese, dutch, polish, czech, greek, turkish,
    russian, ukrainian, swedish, norwegian, danish, finnish, hungarian, romanian, chinese, mandarin,
    cantonese, japanese, korean, vietnamese, thai, indonesian, malay, tagalog, hindi, urdu, bengali,
    tamil, telugu, punjabi, nepali, farsi, persian, arabic, hebrew, swahili, welsh, irish, gaelic,
    catalan, basque, esperanto, latin, sign language, shanghainese, hokkien
""")
TRAITS = words("""
    vegetarian, vegan, pescatarian, pescetarian, teetotal, lactose intolerant, lactose-intolerant,
    gluten intolerant, gluten-intolerant, gluten-free
""")
STATES = words("""
    married, single, divorced, widowed, engaged, separated, retired, semi-retired, unemployed,
    self-employed, between jobs, pregnant, left-handed, right-handed, ambidextrous, introverted,
    extroverted, shy, an introvert, an extrovert, a morning person, an early bird, a night owl,
    an early riser, a light sleeper, a perfectionist, a minimalist, a homebody, a workaholic,
    colorblind, colour-blind, colour blind, color blind, color-blind, deaf, blind, hard of hearing,
    short-sighted, nearsighted, near-sighted, far-sighted, farsighted, dyslexic, autistic, diabetic,
    asthmatic, epileptic, bilingual, trilingual, multilingual, transgender, trans, nonbinary,
    non-binary, gay, lesbian, bisexual, queer, asexual, jewish, muslim, christian, catholic, hindu,
    buddhist, sikh, atheist, an atheist, agnostic, religious, a widow, a widower, an orphan,
    an only child, a twin, a single mom, a single mum, a single dad, a single parent, a smoker,
    a non-smoker, a mom, a mum, a dad, a mother, a father, a grandmother, a grandfather, a parent,
    a trans woman, a trans man, a transgender woman, a transgender man, a beginner, homeschooled,
    a coffee person, a tea person, a dog person, a cat person, a slow learner, a visual learner,
    a wheelchair user, sober, tone-deaf, double-jointed, a feminist, a vegan, a vegetarian,
    a redhead, a lefty, tech-savvy
""")
# Things nobody is allergic to or loves: the speaker is joking.
IDIOM_OBJECTS = words("""
    mondays, monday mornings, work, working, meetings, stupidity, nonsense, bullshit, homework,
    exercise, mornings, drama, idiots, stupid people, small talk, responsibility, commitment, losing
""")
DISLIKED_BY_ALL = words("""
    traffic, traffic jams, taxes, paying taxes, doing taxes, mondays, meetings, waiting, overtime,
    queues, queuing, deadlines, delays, being ignored, being stuck, being late, being yelled,
    being woken, getting up at, waking up at, working weekends, working late, working overtime, spam,
    hangovers, headaches, getting sick, being sick, bugs, losing, root canals, the dentist, rejection
""")
IRREGULAR_PAST = frozenset(
    "was were had did went got came saw took made gave found told left felt began bought brought "
    "built broke caught chose drank drew drove ate fell fought flew forgot froze grew heard held "
    "kept knew led lent lost met paid rode ran said sold sent sang sat slept spoke spent stood "
    "swam taught thought threw understood woke wore won wrote became hurt cut quit put set read "
    "let hit shut lay dreamt learnt burnt spelt hung stuck shot struck swore tore used been".split()
)
MODALS = frozenset(
    "can can't cannot could couldn't will won't would wouldn't should shouldn't must mustn't may "
    "might mightn't shall".split()
)
