/** One bar group of the chart: an operation, and for each contender its share of the bare server's requests/s. */
export interface Group {
  readonly label: string;
  readonly bars: readonly { readonly name: string; readonly ratio: number }[];
}

const colours = ['#2f6f8f', '#d08c3f', '#8a8f98'];
const left = 210;
const width = 860;
const barHeight = 16;
const gap = 14;

const escapeXml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

const bar = (x: number, y: number, length: number, colour: string, label: string): string =>
  `<rect x="${x}" y="${y}" width="${length.toFixed(1)}" height="${barHeight - 3}" rx="2" fill="${colour}"/>` +
  `<text x="${(x + length + 6).toFixed(1)}" y="${y + barHeight - 5}" class="v">${escapeXml(label)}</text>`;

/** Draws the ratios as horizontal bars; the line at 1 is the bare server of the same round. */
export const drawChart = (title: string, groups: readonly Group[]): string => {
  const names = groups[0]?.bars.map(({ name }) => name) ?? [];
  const groupHeight = names.length * barHeight + gap;
  const top = 64;
  const height = top + groups.length * groupHeight + 20;
  const scale = (width - left - 70) / Math.max(1, ...groups.flatMap(({ bars }) => bars.map(({ ratio }) => ratio)));
  const one = left + scale;
  const rows = groups.map(({ label, bars }, index) => {
    const y = top + index * groupHeight;
    const drawn = bars.map(({ ratio }, at) =>
      bar(left, y + at * barHeight, ratio * scale, colours[at] ?? '#8a8f98', ratio.toFixed(2)),
    );
    return `<text x="${left - 10}" y="${y + (names.length * barHeight) / 2 + 3}" class="l">${escapeXml(label)}</text>${drawn.join('')}`;
  });
  const legend = names.map(
    (name, at) =>
      `<rect x="${left + at * 230}" y="36" width="12" height="12" rx="2" fill="${colours[at] ?? '#8a8f98'}"/>` +
      `<text x="${left + at * 230 + 18}" y="46" class="v">${escapeXml(name)}</text>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    '<style>text{font:13px system-ui,sans-serif;fill:#24292f}.l{text-anchor:end}.v{font-size:12px;paint-order:stroke;stroke:#fff;stroke-width:3px}.t{font-size:15px;font-weight:600}</style>',
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="16" y="24" class="t">${escapeXml(title)}</text>`,
    ...legend,
    `<line x1="${one}" x2="${one}" y1="${top - 8}" y2="${height - 14}" stroke="#24292f" stroke-dasharray="3 3"/>`,
    `<text x="${one - 4}" y="${height - 2}" class="v" text-anchor="end">1.00 = bare server</text>`,
    ...rows,
    '</svg>',
    '',
  ].join('\n');
};
