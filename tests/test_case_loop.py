"""The loop over cases: every failing case is named, and no case meets what another has changed."""

import pytest

from ops.accounts import users
from ops.models import User
from tests.case_loop import check_each

pytestmark = pytest.mark.django_db


def test_every_failing_case_is_named_with_its_line() -> None:
    checked: list[int] = []

    def check(case: int) -> None:
        checked.append(case)
        assert case % 2 == 0

    with pytest.raises(AssertionError) as caught:
        check_each([1, 2, 3], check, count=3)
    told = str(caught.value)
    assert checked == [1, 2, 3] and "2 of 3 cases fail" in told
    assert "\n1: test_case_loop.py:" in told and "\n3: test_case_loop.py:" in told
    assert "\n2: " not in told and "assert case % 2 == 0" in told


def test_an_error_of_the_database_is_a_failure_of_its_case_alone(alice: User) -> None:
    def check(external_id: str) -> None:
        User.objects.create(external_id=external_id)

    with pytest.raises(AssertionError, match=r"1 of 2 cases fail:\nalice: .*IntegrityError"):
        check_each(["alice", "bob"], check, count=2)
    assert User.objects.get() == alice


def test_a_case_does_not_meet_the_changes_of_another(alice: User) -> None:
    def check(name: str) -> None:
        assert set(User.objects.values_list("external_id", flat=True)) == {"alice"}
        users.find_or_create(name)
        assert User.objects.count() == 2

    check_each(["bob", "carol"], check, count=2)
    assert User.objects.get() == alice


def test_cases_that_keep_their_changes_meet_each_others(alice: User) -> None:
    seen: list[int] = []

    def check(name: str) -> None:
        users.find_or_create(name)
        seen.append(User.objects.count())

    check_each(["bob", "carol"], check, count=2, keeping=True)
    assert seen == [2, 3]


@pytest.mark.parametrize(("cases", "count"), [([], 0), ([], 1), ([1], 2), ([1, 2], 1)])
def test_a_loop_over_too_few_or_too_many_cases_fails(cases: list[int], count: int) -> None:
    with pytest.raises(AssertionError, match="cases checked"):
        check_each(cases, lambda case: None, count=count)
