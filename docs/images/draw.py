"""Draws the schematic pictures of docs/concepts.md: python3 docs/images/draw.py (standard library only).

The other pictures there are made by the program; docs/images/make has the commands.
"""

import math
import pathlib

HERE = pathlib.Path(__file__).parent
BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#666666"
STYLE = 'font-family="Liberation Sans, Arial, sans-serif" font-size="14"'


def svg(name, width, height, title, body):
    """Writes one picture on a white ground, so that it can be read on a dark page, too."""
    (HERE / name).write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" {STYLE}>\n'
        f"<title>{title}</title>\n"
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z"/></marker></defs>\n'
        f'<rect width="{width}" height="{height}" fill="white"/>\n' + "\n".join(body) + "\n</svg>\n"
    )


def text(x, y, words, anchor="middle", colour="black"):
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}">{words}</text>'


def box(x, y, w, h, lines, colour):
    """A rounded box with lines of text in its middle."""
    first = y + h / 2 + 5 - 9 * (len(lines) - 1)
    return [
        f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="6" fill="white" stroke="{colour}" stroke-width="2"/>',
        *(text(x + w / 2, first + 18 * i, line) for i, line in enumerate(lines)),
    ]


def arrow(x1, y1, x2, y2):
    return f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="black" stroke-width="1.5" marker-end="url(#tip)"/>'


def step():
    """What a node does in one step, and where the attacker looks."""
    body = []
    for i, (lines, colour) in enumerate(
        [
            (["gradients of the", "batch of step t,", "each clipped"], GREY),
            (["sum"], GREY),
            (["+ row t of", "the noise"], ORANGE),
            (["÷ batch size,", "optimizer"], GREY),
        ]
    ):
        body += box(20 + 165 * i, 40, 135, 80, lines, colour)
        if i:
            body.append(arrow(20 + 165 * i - 30, 80, 20 + 165 * i - 3, 80))
    body += box(20 + 165 * 4, 40, 135, 80, ["average with", "the neighbours"], BLUE)
    body.append(arrow(650, 80, 677, 80))
    body.append('<line x1="500" y1="20" x2="500" y2="150" stroke="black" stroke-dasharray="5 4"/>')
    body.append(text(490, 150, "secret", "end"))
    body.append(text(510, 150, "seen by attackers", "start"))
    svg("step.svg", 835, 170, "One step of one node", body)


def bells():
    """Two normal densities, mu apart: what an attacker has to tell apart."""
    body = []
    for panel, mu in enumerate((0.5, 1, 3)):
        left, base, scale = 20 + 270 * panel, 150, 30

        def curve(mean, colour):
            points = [
                (left + 90 + scale * (x / 10), base - 110 * math.exp(-((x / 10 - mean) ** 2) / 2))
                for x in range(-28, 59)
            ]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5"/>'

        body += [curve(0, BLUE), curve(mu, ORANGE)]
        body.append(f'<line x1="{left}" y1="{base}" x2="{left + 260}" y2="{base}" stroke="black"/>')
        # The best test errs equally often either way at the threshold mu/2.
        wrong = 0.5 * math.erfc(mu / 2 / math.sqrt(2))
        body.append(text(left + 130, base + 25, f"μ = {mu}: wrong {wrong:.0%} of the time"))
    body.append(text(20, 20, "what an attacker sees", "start", GREY))
    body.append(text(300, 20, "without the record", "start", BLUE))
    body.append(text(450, 20, "with it", "start", ORANGE))
    svg("bells.svg", 835, 190, "Two normal distributions, mu apart", body)


def batches():
    """Cyclic participation: b = 4 batches, k = 3 rounds."""
    b, k, side = 4, 3, 56
    body = [text(20, 25, "cyclic, b = 4 batches, k = 3 times: one record (orange) takes part every 4 steps", "start")]
    for t in range(b * k):
        ours = t % b == 1
        x = 20 + t * (side + 6)
        body.append(
            f'<rect x="{x}" y="40" width="{side}" height="40" rx="4" fill="{"#f4c7a8" if ours else "#eeeeee"}" '
            f'stroke="{ORANGE if ours else GREY}"/>'
        )
        body.append(text(x + side / 2, 65, f"batch {t % b}"))
        body.append(text(x + side / 2, 98, f"t = {t}", colour=GREY))
    body.append(text(20, 135, "reshuffled after every epoch: the same record may come again in the next step", "start"))
    for t, batch in enumerate([0, 1, 2, 3, 2, 0, 3, 1, 1, 3, 0, 2]):
        ours = t in (3, 4, 10)
        x = 20 + t * (side + 6)
        body.append(
            f'<rect x="{x}" y="150" width="{side}" height="40" rx="4" fill="{"#f4c7a8" if ours else "#eeeeee"}" '
            f'stroke="{ORANGE if ours else GREY}"/>'
        )
        body.append(text(x + side / 2, 208, f"t = {t}", colour=GREY))
    svg("batches.svg", 775, 225, "Batches in turn, and batches reshuffled", body)


def views():
    """Three attackers on one small network."""
    nodes = {"a": (60, 100), "b": (120, 55), "c": (120, 145), "d": (190, 100), "e": (250, 100)}
    edges = ["ab", "ac", "bc", "bd", "cd", "de"]
    panels = [
        ("local DP: sees all messages", set("abcde"), None),
        ("PNDP: node d sees its neighbours", set("bce"), "d"),
        ("SecLDP: sees all, knows d's secrets", set("abcde"), "d"),
    ]
    body = []
    for i, (title, seen, attacker) in enumerate(panels):
        left = 275 * i
        body.append(text(left + 145, 25, title))
        for u, v in edges:
            known = title.startswith("SecLDP") and attacker in (u, v)
            colour, wide = (ORANGE, 3) if known else (GREY, 1.5)
            (x1, y1), (x2, y2) = nodes[u], nodes[v]
            body.append(
                f'<line x1="{left + x1}" y1="{y1}" x2="{left + x2}" y2="{y2}" stroke="{colour}" stroke-width="{wide}"/>'
            )
        for name, (x, y) in nodes.items():
            fill = ORANGE if name == attacker else "#f4c7a8" if name in seen else "white"
            body.append(f'<circle cx="{left + x}" cy="{y}" r="15" fill="{fill}" stroke="black"/>')
            body.append(text(left + x, y + 5, name))
    body.append(text(20, 185, "light orange: its messages are seen; orange node: the attacker; orange edge: a secret it knows", "start", GREY))
    svg("views.svg", 835, 200, "What attackers see", body)


def reacts():
    """A node in between that averages, and one that learns: what it sends of the victim's record beside its own noise."""
    body = []
    for panel, (title, sends, times) in enumerate(
        [("averaging: 1 passes on what it holds", "θ + noise", 1), ("learning: 1's gradient answers, 26θ in all", "26θ + noise", 26)]
    ):
        left = 20 + 410 * panel
        body.append(text(left, 25, title, "start"))
        for x, name, fill in ((30, "0", "white"), (160, "1", "white"), (320, "2", ORANGE)):
            body.append(f'<circle cx="{left + x}" cy="85" r="15" fill="{fill}" stroke="black"/>')
            body.append(text(left + x, 90, name))
        body += [arrow(left + 46, 85, left + 143, 85), arrow(left + 176, 85, left + 303, 85)]
        body += [text(left + 95, 75, "record"), text(left + 95, 105, "+ noise", colour=GREY), text(left + 240, 75, sends)]
        body += [text(left + 30, 125, "victim", colour=GREY), text(left + 160, 125, "θ, a third of it", colour=GREY)]
        body.append(text(left + 320, 125, "attacker", colour=GREY))
        record, fresh = times / 3, 1
        for row, (name, size, colour) in enumerate(
            [("the record", record, ORANGE), ("noise of node 0", record, BLUE), ("noise of node 1", fresh, GREY)]
        ):
            y = 150 + 24 * row
            body.append(text(left + 120, y + 13, name, "end"))
            body.append(f'<rect x="{left + 130}" y="{y}" width="{20 * size:.1f}" height="16" fill="{colour}"/>')
            body.append(text(left + 138 + 20 * size, y + 13, f"{size:.2g}", "start"))
        learned = record**2 / (record**2 + fresh**2)
        body.append(text(left, 245, f"2 learns {learned:.3f} of what local DP allows (squared, as μ²)", "start"))
    svg("reacts.svg", 835, 260, "A network that learns leaks more than one that averages", body)


if __name__ == "__main__":
    step()
    bells()
    batches()
    views()
    reacts()
