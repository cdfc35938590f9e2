import { build, stop } from 'esbuild';
import { bundling } from './bundle.ts';
import { functionFiles } from './function-files.ts';

/** What the bundle of a function keeps of our own code, each as `file#name` below `shared` or `functions`. */
export type Reached = (functionName: string) => ReadonlySet<string>;

const sourceLine = /^ *\/\/ (?:shared|functions)\/(\S+\.ts)$/;
/** What is loaded later has its names in one declaration. */
const declaration = /^ *(?:var|let|const|class|function|async function) (\w+(?:, \w+)*)/;

/** esbuild numbers names that it meets twice. */
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

/** Bundles every function in memory as it is deployed, but without packages and minifying. Takes about 4 s. */
export const reachedNames = async (): Promise<Reached> => {
  const { outputFiles } = await build({
    ...bundling,
    minify: false,
    packages: 'external',
    alias: {},
    write: false,
    outdir: '/bundles',
    entryPoints: functionFiles().map(({ file, name }) => ({ in: file, out: name })),
  });
  await stop();
  const reached = new Map(
    outputFiles.map(({ path, text }) => [path.replace(/^.*\/bundles\/|\.cjs$/g, ''), namesIn(text)]),
  );
  return (functionName) => {
    const names = reached.get(functionName);
    if (!names) throw new Error(`${functionName} is not a function of this repository`);
    return names;
  };
};
