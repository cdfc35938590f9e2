import { copyFile, rm } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { styleText } from 'node:util';
import { type BuildOptions, build, type Metafile, stop } from 'esbuild';
import { readArguments } from '../../scripts/read-arguments.ts';
import { DeployProblem } from '../settings/deploy-problem.ts';
import { apiDescriptions } from './api-descriptions.ts';
import { builtinsByRequire } from './builtin-modules.ts';
import { writeCodeCaches } from './code-cache.ts';
import { leanDriver } from './driver/lean-driver.ts';
import { bundleFolder, functionFiles, root } from './function-files.ts';
import { bcryptFromFolder, nativeBcrypt, nativeFile } from './native-bcrypt.ts';
import { sharpPackages } from './sharp-packages.ts';
import { leanWebauthn } from './webauthn/lean-webauthn.ts';

export interface Bundle {
  /** `<area>-<name>`; the bundle is `<name>/main.cjs` in the output folder. */
  readonly name: string;
  /** Size of `main.cjs`, without source map. */
  readonly bytes: number;
  /** Bytes per package, the largest first; our own code is `basalt`. */
  readonly parts: readonly { readonly from: string; readonly bytes: number }[];
  /** True if it needs bcrypt's binary in its folder. */
  readonly native: boolean;
  /** True if it needs `sharp` in its folder. */
  readonly pictures: boolean;
}

/** Optional dependencies of the MongoDB driver, which are not installed. */
const driverExtras = [
  '@aws-sdk/credential-providers',
  '@mongodb-js/zstd',
  'gcp-metadata',
  'kerberos',
  'mongodb-client-encryption',
  'snappy',
  'socks',
];

/** The esbuild options for all functions; tests use them too. */
export const bundling = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node24',
  mainFields: ['module', 'main'],
  minify: true,
  legalComments: 'none',
  logLevel: 'silent',
  alias: {
    'whatwg-url': join(root, 'infra/build/whatwg-url.ts'),
    '@aws-sdk/credential-provider-node': join(root, 'infra/build/aws-credentials.ts'),
  },
  // Image variants are drawn by a separate program in the folder of the one bundle that needs it.
  external: [...driverExtras, 'sharp'],
  // Bundles run as scripts, which can require but not import.
  supported: { 'dynamic-import': false },
  plugins: [builtinsByRequire, bcryptFromFolder, apiDescriptions, leanDriver, leanWebauthn],
  outExtension: { '.js': '.cjs' },
} as const satisfies BuildOptions;

const packageOf = (input: string): string => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? 'basalt';

/** The source that starts the drawing program, and that program, which loads `sharp` and is bundled separately. */
const pictureSource = 'shared/files/images/draw.ts';
const drawProgram = join(root, 'shared/files/images/draw-picture.ts');

const putDrawProgram = async (folder: string): Promise<void> => {
  await sharpPackages(folder);
  await build({ ...bundling, entryPoints: [drawProgram], outfile: join(folder, 'draw-picture.cjs'), outExtension: {} });
};

const describe = (name: string, output: Metafile['outputs'][string]): Bundle => {
  const sizes = new Map<string, number>();
  for (const [input, { bytesInOutput }] of Object.entries(output.inputs)) {
    const from = packageOf(input);
    sizes.set(from, (sizes.get(from) ?? 0) + bytesInOutput);
  }
  return {
    name,
    bytes: output.bytes,
    parts: [...sizes].map(([from, bytes]) => ({ from, bytes })).sort((a, b) => b.bytes - a.bytes),
    native: output.imports.some(({ path }) => path === `./${nativeFile}`),
    pictures: Object.keys(output.inputs).includes(pictureSource),
  };
};

interface BundleOptions {
  /** Only bundles functions whose names begin with one of these. */
  readonly prefixes?: readonly string[];
  /** Also writes source maps. They are not deployed, and take more time than everything else. */
  readonly sourceMaps?: boolean;
  /** Also writes V8 code caches, which needs one process per bundle. */
  readonly codeCaches?: boolean;
}

/** Bundles of one batch share parsed files, but are all in memory at the same time. */
const batchSize = 40;

const entry = join(root, 'infra/build/entry.mjs');

/**
 * Bundles every function into `<outDir>/<area>-<name>/`: `main.cjs`, the `index.mjs` that loads it, and bcrypt's binary
 * if it hashes passwords. Replaces the content of `outDir`.
 */
export const bundleFunctions = async (
  outDir: string,
  { prefixes = [''], sourceMaps = false, codeCaches = false }: BundleOptions = {},
): Promise<readonly Bundle[]> => {
  // First, because it may need a download that fails.
  const binary = await nativeBcrypt();
  await rm(outDir, { recursive: true, force: true });
  const files = functionFiles().filter(({ name }) => prefixes.some((prefix) => name.startsWith(prefix)));
  const bundles: Bundle[] = [];
  for (let start = 0; start < files.length; start += batchSize) {
    const { metafile } = await build({
      ...bundling,
      entryPoints: files.slice(start, start + batchSize).map(({ file, name }) => ({ in: file, out: `${name}/main` })),
      outdir: outDir,
      sourcemap: sourceMaps && 'external',
      sourcesContent: false,
      metafile: true,
    });
    const outputs = Object.entries(metafile.outputs).filter(([path]) => path.endsWith('.cjs'));
    bundles.push(...outputs.map(([path, output]) => describe(relative(outDir, dirname(resolve(root, path))), output)));
    // Frees the memory of esbuild's process.
    await stop();
  }
  const native = bundles.filter((bundle) => bundle.native);
  await Promise.all([
    ...bundles.map(({ name }) => copyFile(entry, join(outDir, name, 'index.mjs'))),
    ...native.map(({ name }) => copyFile(binary, join(outDir, name, nativeFile))),
    ...bundles.filter(({ pictures }) => pictures).map(({ name }) => putDrawProgram(join(outDir, name))),
  ]);
  await stop();
  if (codeCaches) await writeCodeCaches(bundles.map(({ name }) => join(outDir, name)));
  return bundles;
};

const kib = (bytes: number): string => (bytes / 1024).toFixed(1);

const printTable = (bundles: readonly Bundle[]): void => {
  const width = Math.max(8, ...bundles.map(({ name }) => name.length));
  console.log(styleText('bold', `${'function'.padEnd(width)}  ${'KiB'.padStart(7)}  largest parts`));
  for (const { name, bytes, parts, native } of bundles) {
    const largest = parts.slice(0, 3).map((part) => `${part.from} ${kib(part.bytes)}`);
    console.log(
      `${name.padEnd(width)}  ${kib(bytes).padStart(7)}  ${largest.join(', ')}${native ? ' + bcrypt (x86_64)' : ''}`,
    );
  }
};

if (import.meta.main) {
  readArguments(
    `Usage: npm run build
Bundles every function into dist/functions, and prints how large each is.`,
    {},
  );
  const start = performance.now();
  try {
    const bundles = await bundleFunctions(bundleFolder, { sourceMaps: true, codeCaches: true });
    printTable(bundles);
    console.log(`${bundles.length} functions in ${((performance.now() - start) / 1000).toFixed(1)} s`);
  } catch (error) {
    console.error(error instanceof DeployProblem ? error.message : error);
    process.exitCode = 1;
  }
}
