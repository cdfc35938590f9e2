import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { root } from '../build/function-files.ts';

/**
 * What CloudFront runs before it looks a file up: the same rule that the local origin of files has, bundled into the
 * language of CloudFront Functions. What that does not know beyond ES5 does not build.
 */
export const sizeRequestFunction = (): string => {
  const { outputFiles } = buildSync({
    absWorkingDir: root,
    entryPoints: [join(root, 'infra/stacks/edge/size-request.ts')],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es5',
    supported: { arrow: true, 'const-and-let': true, 'template-literal': true },
    legalComments: 'none',
    logLevel: 'silent',
  });
  return (outputFiles[0]?.text ?? '').replace(/export \{\s*handler\s*\};\s*$/, '').trim();
};
