/** One bar group of the chart: an operation, and its share of the bare server's speed, or one for each contender. */
export interface Group {
  /** Stands above the first of the groups that have it. */
  readonly area: string;
  readonly label: string;
  readonly bars: readonly { readonly name: string; readonly ratio: number }[];
}

const colours = ['#2f6f8f', '#d08c3f', '#8a8f98', '#a34a5b'];
const left = 210;
const width = 860;
const barHeight = 16;
const gap = 12;
const headingHeight = 24;

const escapeXml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** The colour of the bars of one name, wherever it comes in a group. */
const colourOf = (names: readonly string[], name: string): string => colours[names.indexOf(name)] ?? '#8a8f98';

const bar = (x: number, y: number, length: number, colour: string, label: string): string =>
  `<rect x="${x}" y="${y}" width="${length.toFixed(1)}" height="${barHeight - 3}" rx="2" fill="${colour}"/>` +
  `<text x="${(x + length + 6).toFixed(1)}" y="${y + barHeight - 5}" class="v">${escapeXml(label)}</text>`;

const heading = (y: number, text: string): string => `<text x="16" y="${y + 14}" class="a">${escapeXml(text)}</text>`;

interface Placed {
  readonly drawn: readonly string[];
  readonly end: number;
}

/** Draws the groups one below the other from `top` on. */
const place = (groups: readonly Group[], names: readonly string[], top: number, scale: number): Placed => {
  const drawn: string[] = [];
  let y = top;
  let area = '';
  for (const group of groups) {
    if (group.area !== area) {
      area = group.area;
      drawn.push(heading(y, area));
      y += headingHeight;
    }
    const { bars, label } = group;
    drawn.push(
      `<text x="${left - 10}" y="${y + (bars.length * barHeight) / 2 + 3}" class="l">${escapeXml(label)}</text>`,
      ...bars.map(({ name, ratio }, at) =>
        bar(left, y + at * barHeight, ratio * scale, colourOf(names, name), ratio.toFixed(2)),
      ),
    );
    y += bars.length * barHeight + gap;
  }
  return { drawn, end: y };
};

/** Draws the ratios as horizontal bars; the line at 1 is the bare server of the same round. */
export const drawChart = (title: string, groups: readonly Group[]): string => {
  const names = [...new Set(groups.flatMap(({ bars }) => bars.map(({ name }) => name)))];
  const top = 64;
  const scale = (width - left - 70) / Math.max(1, ...groups.flatMap(({ bars }) => bars.map(({ ratio }) => ratio)));
  const one = left + scale;
  const { drawn, end } = place(groups, names, top, scale);
  const height = end + 20;
  const legend = names.map(
    (name, at) =>
      `<rect x="${16 + at * 200}" y="36" width="12" height="12" rx="2" fill="${colourOf(names, name)}"/>` +
      `<text x="${16 + at * 200 + 18}" y="46" class="v">${escapeXml(name)}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    '<style>text{font:13px system-ui,sans-serif;fill:#24292f}.l{text-anchor:end}.v{font-size:12px;paint-order:stroke;stroke:#fff;stroke-width:3px}.t{font-size:15px;font-weight:600}.a{font-weight:600}</style>',
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="16" y="24" class="t">${escapeXml(title)}</text>`,
    ...legend,
    `<line x1="${one}" x2="${one}" y1="${top - 8}" y2="${height - 14}" stroke="#24292f" stroke-dasharray="3 3"/>`,
    `<text x="${one - 4}" y="${height - 2}" class="v" text-anchor="end">1.00 = bare server</text>`,
    ...drawn,
    '</svg>',
    '',
  ].join('\n');
};
