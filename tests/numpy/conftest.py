"""Closing lines of the differential suite: how many calls were compared, and how many of them ran as compiled code."""


def pytest_terminal_summary(terminalreporter):
    totals = {}
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            found = dict(getattr(report, "user_properties", ()))
            if report.when == "call" and "native" in found:
                row = totals.setdefault(found["executor"], [0, 0, 0])
                row[0] += 1
                row[1] += found["calls"]
                row[2] += found["native"]
    for executor, (rows, calls, native) in sorted(totals.items()):
        terminalreporter.write_line(f"differential suite, {executor}: {rows} rows, {calls} calls, {native} native ({native / max(calls, 1):.0%})")
