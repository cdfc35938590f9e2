import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

const docs = path.join(import.meta.dirname, '../docs');
const page = path.join(docs, 'speed.md');

/** Puts what was printed into docs/speed.md, between `<!-- part -->` and `<!-- /part -->`. */
export const writePart = async (part: 'bench' | 'commands', printed: string): Promise<void> => {
  const text = await readFile(page, 'utf8');
  const [begin, end] = [`<!-- ${part} -->\n`, `\n<!-- /${part} -->`];
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)];
  if (from < begin.length || to < from) throw new Error(`docs/speed.md has no part ${part}`);
  await writeFile(page, text.slice(0, from) + printed + text.slice(to));
};

/** Writes a picture beside docs/speed.md. */
export const writePicture = (name: string, svg: string): Promise<void> => writeFile(path.join(docs, name), svg);
