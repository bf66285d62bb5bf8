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
        r"|has been (?:dating|seeing)\b|is (?:dating|seeing) [a-z]"
        r"|谈恋爱|[交找]了?(?:个|一个)?(?:女朋友|男朋友|对象|女友|男友)|有了?(?:女朋友|男朋友|对象)|脱单|在一起了|结婚了|订婚了",
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
        r"\b(?:parental|maternity|paternity|sick|medical|study) leave|\bsabbatical"
        r"|产假|陪产假|病假|育儿假|停薪留职",
        r"\b(?:returned to work|(?:is|went) back (?:at|to) work|back at work|leave (?:is over"
        r"|ended))"
        r"|(?:回去|回来|重新|开始)上班|复工|销假|返岗|假(?:休完|结束)",
    ),
    (
        r"\b(?:with (?:an? )?(?:\w+ )?(?:roommates?|flatmates?)|shared (?:flat|apartment|house))"
        r"|合租|室友|舍友",
        r"\b(?:lives|living) (?:alone|by \w+self|on (?:his|her|their|my) own)|(?:一个人|自己"
        r"|独自)住|独居",
    ),
    (r"住院", r"出院"),
    (
        r"\bin (?:the )?hospital\b|\bhospitali[sz]ed",
        r"\b(?:discharged|released|left the hospital"
        r"|home from)",
    ),
    (
        r"实习|试用期|\b(?:intern|internship|trainee|probation|apprentice)\b",
        r"转正|\b(?:permanent|full[- ]time|passed (?:the |her |his |my )?probation|hired as)\b",
    ),
    (r"异地", r"一起住|同居|搬来|搬到一起|结束异地"),
    (r"\blong[- ]distance", r"\b(?:moved in together|lives? together)"),
    (
        r"高[一二三]|高中|备战高考|\b(?:in high school|high school student)",
        r"考上了?.{0,8}大学|上大学了|读大学了|高考结束|\b(?:started|entered|goes to|got into) "
        r"(?:college|uni)",
    ),
    (
        r"\b(?:preparing|studying|cramming|training) (?:for|to take) .{0,20}exam|备考|准备考|考研",
        r"\b(?:passed|failed|took|sat) .{0,20}exam|考上|上岸|录取|考过了|考完了|通过了.{0,8}考试",
    ),
    (
        r"\b(?:rents?|renting) |租房|租住|租了",
        r"\bbought (?:a|an|the|her|his|their|my) (?:\w+ )?(?:house|flat|apartment|home)|买了?房",
    ),
    (
        r"\b(?:learning|preparing) .{0,12}(?:driv|driving test)|学车|考驾照|学开车",
        r"\b(?:got|has|passed) .{0,12}(?:driv\w+(?:'s)? (?:licen[cs]e|test))"
        r"|拿到?了?驾照|考(?:过|到)了?驾照",
    ),
    (
        r"\b(?:works?|employed|job) (?:at|for|as|is)\b|上班|工作$|是.{1,8}[师员生]$",
        r"\b(?:retired|was laid off|got (?:laid off|fired)|lost (?:the|her|his|their|my) job"
        r"|(?:is|am) (?:now )?(?:unemployed|retired))|退休了|失业了|被裁|下岗",
    ),
)
# States of a thing: the event must speak of the very same one.
_OF_THINGS: tuple[tuple[str, str], ...] = (
    (
        r"\b(?:in (?:\w+ )?(?:beta|alpha|development|testing|draft|progress)|being (?:built"
        r"|developed"
        r"|written)|a (?:prototype|draft)|under construction|not (?:yet )?(?:released|launched"
        r"|live))"
        r"|内测|公测|开发中|测试中|在开发|在写|筹备|还没?有?(?:上线|发布|完成|做完)",
        r"\b(?:went live|is live|(?:was |has been |is )?(?:launched|released|shipped|published"
        r"|finished"
        r"|completed|opened))|in production|上线|发布了|已发布|交付了|完工|完成了|做完了|写完了"
        r"|出版了",
    ),
    (
        r"\b(?:is|are|still) (?:open|broken|failing|pending|unresolved|flaky|down)"
        r"|没修|未修复|未解决|待修|还没好|坏了|不能用",
        r"\b(?:is|was|has been|got|are|have been) (?:fixed|resolved|closed|repaired|merged|solved)"
        r"|works again|修好了|修复了|已修复|解决了|已解决|恢复了",
    ),
    (
        r"\b(?:waiting for|awaiting|applied for|applying for|ordered)\b|在等|等着|申请了|在申请"
        r"|下单了",
        r"\b(?:received|arrived|was (?:approved|granted|delivered|rejected)|got (?:the|a))\b"
        r"|收到了|批下来|到货|下来了|到了$",
    ),
)
_COMPILED = tuple((re.compile(state), re.compile(event)) for state, event in _TRANSITIONS)
_THINGS = tuple((re.compile(state), re.compile(event)) for state, event in _OF_THINGS)


def ended_by(*, old: str, new: str, same_thing: bool = False) -> bool:
    """Whether the new statement tells of the event that ends the state in the old one."""
    was, is_now = old.lower(), new.lower()
    known = (*_COMPILED, *_THINGS) if same_thing else _COMPILED
    return any(
        state.search(was) and event.search(is_now) and not event.search(was)
        for state, event in known
    )
