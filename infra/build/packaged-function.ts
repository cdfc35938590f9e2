import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Code } from 'aws-cdk-lib/aws-lambda';
import { DeployProblem } from '../settings/deploy-problem.ts';
import { nativeFile } from './native-bcrypt.ts';

/** The code of one function as it is deployed. */
export interface PackagedFunction {
  readonly code: Code;
  /** True where binaries for x86_64 lie beside the bundle; all others run on arm64. */
  readonly native: boolean;
}

/** Finds a function's code by its name, `<area>-<name>`. */
export type Packages = (name: string) => PackagedFunction;

/**
 * The packages that `npm run build` left in a folder. Source maps stay behind: reading one costs more at a cold start
 * than it saves, and the map of a build reads its stacks as well from outside. So does what V8 compiled on a machine of
 * another kind than the function's.
 */
export const bundledIn =
  (folder: string): Packages =>
  (name) => {
    const path = join(folder, name);
    if (!existsSync(join(path, 'index.mjs'))) throw new DeployProblem(`${name} is not bundled. Run: npm run build`);
    const native = [nativeFile, 'node_modules'].some((name) => existsSync(join(path, name)));
    const exclude = ['*.map', native ? '*-arm64.cache' : '*-x64.cache'];
    return { code: Code.fromAsset(path, { exclude }), native };
  };
