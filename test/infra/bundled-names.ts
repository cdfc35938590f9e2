import { build } from 'esbuild';
import { bundling } from '../../infra/build/bundle.ts';
import { functionFiles } from '../../infra/build/function-files.ts';

const sourceLine = /^ *\/\/ (?:shared|functions)\/(\S+\.ts)$/;
/** What is loaded later has its names in one declaration. */
const declaration = /^ *(?:var|let|const|class|function|async function) (\w+(?:, \w+)*)/;

/** `file#name` of everything of our own that a bundle keeps; esbuild numbers names that there are twice. */
const namesIn = (text: string): ReadonlySet<string> => {
  const names = new Set<string>();
  let file = '';
  for (const line of text.split('\n')) {
    file = sourceLine.exec(line)?.[1] ?? file;
    const declared = declaration.exec(line)?.[1]?.split(', ') ?? [];
    for (const name of declared) names.add(`${file}#${name.replace(/\d+$/, '')}`);
  }
  return names;
};

/** Bundles every function as it is deployed, without packages: its name → what its bundle keeps of our own code. */
export const bundledNames = async (): Promise<ReadonlyMap<string, ReadonlySet<string>>> => {
  const { outputFiles } = await build({
    ...bundling,
    minify: false,
    packages: 'external',
    alias: {},
    write: false,
    outdir: '/bundles',
    entryPoints: functionFiles().map(({ file, name }) => ({ in: file, out: name })),
  });
  return new Map(outputFiles.map(({ path, text }) => [path.replace(/^.*\/bundles\/|\.cjs$/g, ''), namesIn(text)]));
};
