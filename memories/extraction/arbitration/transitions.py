"""States of a life and the events that end them: who gave birth is no longer pregnant."""

import re

# state: what holds until the event beside it happens.
_TRANSITIONS: tuple[tuple[str, str], ...] = (
    (
        r"\b(?:unemployed|jobless|between jobs|out of work|job[ -]hunting"
        r"|(?:looking|searching) for (?:a )?(?:job|work))\b|失业|待业|没有?工作$|找工作|求职",
        r"\b(?:start\w* (?:a |the )?(?:new )?(?:job|working)|now works|got (?:a |the )?job|joined"
        r"|hired|found (?:a |work)|accepted (?:a |the |an )?(?:job )?offer|begins? (?:work|a job))"
        r"|入职|找到了?(?:新?工作|一份)|上班了|(?:当|做)上?了|拿到.{0,6}offer|加入了",
    ),
    (
        r"\b(?:pregnant|expecting (?:a|her|their|our) |baby is due)|怀孕|备孕|待产|预产期",
        r"\b(?:gave birth|had (?:a|the|her|their|our) (?:baby|boy|girl|son|daughter)"
        r"|(?:baby|son|daughter|boy|girl|twins) (?:was|were) born)"
        r"|生了|生下|(?:孩子|宝宝|儿子|女儿)出生了?",
    ),
    (
        r"\b(?:is |am )?(?:single|unmarried)\b|^单身|还?没有?(?:对象|女朋友|男朋友)|是单身",
        r"\b(?:started (?:dating|seeing)|(?:is|am) (?:now )?(?:dating|in a relationship)"
        r"|got (?:a |together)|has a (?:new )?(?:girlfriend|boyfriend)|got (?:married|engaged))"
        r"|谈恋爱|有了?(?:女朋友|男朋友|对象)|脱单|在一起了|结婚了|订婚了",
    ),
    (
        r"\b(?:engaged|fianc[eé]e?|planning (?:the|a|her|his|their) wedding)\b"
        r"|订婚|未婚[夫妻]|备婚",
        r"\b(?:got married|married\b|wedding (?:was|took place))|结婚了|领证|办了?婚礼",
    ),
    (
        r"\b(?:student|studies|studying)\b|读书|上学|在读|大[一二三四]|研究生|是.{0,6}学生",
        r"\b(?:graduated|finished (?:her|his|their|the|my)? ?(?:studies|degree)|dropped out)"
        r"|毕业了|已经?毕业|退学|(?:年|月)毕业",
    ),
    (
        r"\b(?:lives?|living) with (?:\w+ )?(?:parents|mother|father|roommates?|flatmates?)\b"
        r"|(?:和|跟|与).{0,4}(?:父母|爸妈|室友|舍友|爸爸|妈妈).{0,4}住|合租",
        r"\bmoved (?:out|into (?:an? |the |her |his |their |my )?(?:own|new))|lives alone now"
        r"|搬出来|搬出去|自己(?:单独)?住了?|独居",
    ),
    (
        r"\b(?:rents?|renting) |租房|租住|租了",
        r"\bbought (?:a|an|the|her|his|their|my) (?:\w+ )?(?:house|flat|apartment|home)|买了?房",
    ),
    (
        r"\b(?:learning|preparing) .{0,12}(?:driv|driving test)|学车|考驾照|学开车",
        r"\b(?:got|has|passed) .{0,12}(?:driv\w+ (?:licen[cs]e|test))"
        r"|拿到?了?驾照|考(?:过|到)了?驾照",
    ),
    (
        r"\b(?:works?|employed|job) (?:at|for|as|is)\b|上班|工作$|是.{1,8}[师员生]$",
        r"\b(?:retired|was laid off|got (?:laid off|fired)|lost (?:the|her|his|their|my) job"
        r"|(?:is|am) (?:now )?(?:unemployed|retired))|退休了|失业了|被裁|下岗",
    ),
)
_COMPILED = tuple((re.compile(state), re.compile(event)) for state, event in _TRANSITIONS)


def ended_by(*, old: str, new: str) -> bool:
    """Whether the new statement tells of the event that ends the state in the old one."""
    was, is_now = old.lower(), new.lower()
    return any(
        state.search(was) and event.search(is_now) and not event.search(was)
        for state, event in _COMPILED
    )
