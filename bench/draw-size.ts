// draw-size.ts FILE WIDTH HEIGHT FORMAT: creates one image variant in this process. Prints its cost as JSON: CPU in ms
// without loading the library, peak memory of the process in MiB, and bytes.
import { readFile } from 'node:fs/promises';
import { draw } from '../shared/files/images/draw-picture.ts';
import type { ImageSize } from '../shared/files/images/variant.ts';

const [file = '', width, height, format] = process.argv.slice(2);
const tiny = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
await draw({ bytes: tiny, usual: 'png', size: { width: 64, fit: 'cover' } });
const bytes = await readFile(file);
const before = process.cpuUsage();
const size: ImageSize = {
  width: Number(width),
  height: Number(height),
  fit: 'cover',
  format: format as ImageSize['format'],
};
const made = await draw({ bytes, usual: 'png', size });
if (!('drawn' in made)) throw new Error(made.refused);
const { user, system } = process.cpuUsage(before);
const { maxRSS } = process.resourceUsage();
process.stdout.write(
  JSON.stringify({ cpuMs: (user + system) / 1000, peakMiB: maxRSS / 1024, bytes: made.drawn.bytes.length }),
);
