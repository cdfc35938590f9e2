/** One row of a chart, with ratios to the bare server. */
export interface ChartRow {
  /** The heading above the first row of a group. */
  readonly area: string;
  readonly label: string;
  readonly bars: readonly { readonly name: string; readonly ratio: number }[];
  /** The target of the first bar, as a maximum or minimum. */
  readonly aim?: number;
}

export interface Chart {
  readonly title: string;
  /** Explains which direction is better and the line at 1. */
  readonly subtitle: string;
  readonly rows: readonly ChartRow[];
}

const width = 880;
const left = 220;
const right = 64;
const barHeight = 13;
const rowGap = 11;
const areaHeight = 26;
const top = 100;
const textWidth = 36;

/** Longer bars are cut off and labelled with their value. */
const longest = 2.5;

const escapeXml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Distinguishable with colour blindness, on white and on black. */
const style = `
text{font:12.5px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#1f2328}
.paper{fill:#fff}.title{font-size:16px;font-weight:600}.sub,.tick{fill:#59636e}.tick{font-size:11px;text-anchor:middle}
.area{font-weight:600}.label{text-anchor:end}.value{font-size:11.5px;paint-order:stroke;stroke:#fff;stroke-width:3px}
.grid{stroke:#d1d9e0}.one{stroke:#1f2328}.aim{stroke:#cf222e;stroke-width:2.5}
.c0{fill:#0072b2}.c1{fill:#7cc1ea}.c2{fill:#d98b00}.c3{fill:#009e73}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}.value{stroke:#0d1117}.paper{fill:#0d1117}.sub,.tick{fill:#9198a1}.grid{stroke:#30363d}.one{stroke:#e6edf3}.aim{stroke:#ff7b72}
.c0{fill:#3d9be0}.c1{fill:#1d5a85}.c2{fill:#e3a33b}.c3{fill:#2bb98d}}
`.replaceAll('\n', '');

interface Frame {
  readonly names: readonly string[];
  readonly x: (ratio: number) => number;
}

const rowHeight = ({ bars }: ChartRow): number => bars.length * barHeight + rowGap;

const drawRow = ({ bars, label, aim }: ChartRow, y: number, { names, x }: Frame): string[] => {
  const end = y + bars.length * barHeight;
  const ends = (ratio: number): number => x(Math.min(ratio, longest));
  return [
    `<text x="${left - 10}" y="${(y + end) / 2 + 4}" class="label">${escapeXml(label)}</text>`,
    ...bars.map(
      ({ name, ratio }, at) =>
        `<rect x="${left}" y="${y + at * barHeight}" width="${(ends(ratio) - left).toFixed(1)}" height="${barHeight - 2}" rx="1.5" class="c${names.indexOf(name)}"/>`,
    ),
    ...(aim === undefined || aim > longest
      ? []
      : [
          `<line x1="${x(aim).toFixed(1)}" x2="${x(aim).toFixed(1)}" y1="${y - 3}" y2="${y + barHeight + 1}" class="aim"/>`,
        ]),
    ...bars.map(({ ratio }, at) => {
      const text = ratio > longest ? `${ratio.toFixed(2)} →` : ratio.toFixed(2);
      const end = ends(ratio);
      // Keeps the number off the target mark.
      const hidden = at === 0 && aim !== undefined && x(aim) > end - 2 && x(aim) < end + textWidth;
      const begin = (hidden ? x(aim) : end) + 6;
      return `<text x="${begin.toFixed(1)}" y="${y + (at + 1) * barHeight - 3}" class="value">${text}</text>`;
    }),
  ];
};

const drawLegend = (names: readonly string[], withAim: boolean): string[] => {
  const entries = names.map((name, at) => ({
    name,
    mark: `<rect y="-10" width="12" height="12" rx="2" class="c${at}"/>`,
  }));
  const aim = { name: 'aim', mark: '<line x1="6" x2="6" y1="-12" y2="3" class="aim"/>' };
  let x = 16;
  return [...entries, ...(withAim ? [aim] : [])].map(({ name, mark }) => {
    const drawn = `<g transform="translate(${x} 70)">${mark}<text x="18">${escapeXml(name)}</text></g>`;
    x += 18 + name.length * 7 + 22;
    return drawn;
  });
};

const drawGrid = (most: number, bottom: number, x: Frame['x']): string[] =>
  Array.from({ length: Math.floor(most * 2) + 1 }, (_, half) => half / 2).map((ratio) => {
    const at = x(ratio).toFixed(1);
    return (
      `<line x1="${at}" x2="${at}" y1="${top - 4}" y2="${bottom}" class="${ratio === 1 ? 'one' : 'grid'}"/>` +
      `<text x="${at}" y="${top - 10}" class="tick">${ratio === 1 ? 'bare' : ratio}</text>`
    );
  });

/** Draws ratios as horizontal bars, readable on white and on black. */
export const drawChart = ({ title, subtitle, rows }: Chart): string => {
  const names = [...new Set(rows.flatMap(({ bars }) => bars.map(({ name }) => name)))];
  const values = rows.flatMap(({ bars, aim = 0 }) => [aim, ...bars.map(({ ratio }) => ratio)]);
  const most = Math.min(longest, Math.max(1, ...values));
  const x = (ratio: number): number => left + (ratio / most) * (width - left - right);
  const drawn: string[] = [];
  let y = top + 4;
  let area = '';
  for (const row of rows) {
    if (row.area !== area) {
      area = row.area;
      drawn.push(`<text x="16" y="${y + 14}" class="area">${escapeXml(area)}</text>`);
      y += areaHeight;
    }
    drawn.push(...drawRow(row, y, { names, x }));
    y += rowHeight(row);
  }
  const height = y + 12;
  const withAim = rows.some(({ aim }) => aim !== undefined);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    `<style>${style}</style>`,
    `<rect width="${width}" height="${height}" rx="6" class="paper"/>`,
    `<text x="16" y="28" class="title">${escapeXml(title)}</text>`,
    `<text x="16" y="48" class="sub">${escapeXml(subtitle)}</text>`,
    ...drawLegend(names, withAim),
    ...drawGrid(most, height - 8, x),
    ...drawn,
    '</svg>',
    '',
  ].join('\n');
};
