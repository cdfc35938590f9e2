import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import type { Plugin } from 'esbuild';
import { DeployProblem } from '../../settings/deploy-problem.ts';

/** Files of `@simplewebauthn/server` that no bundle contains, with the exports that other files import. */
export const leftOut: Readonly<Record<string, readonly string[]>> = {
  'helpers/convertX509PublicKeyToCOSE.js': ['convertX509PublicKeyToCOSE'],
  'helpers/getCertificateInfo.js': ['getCertificateInfo'],
  'helpers/isCertRevoked.js': ['isCertRevoked'],
  'helpers/mapX509SignatureAlgToCOSEAlg.js': ['mapX509SignatureAlgToCOSEAlg'],
  'helpers/validateCertificatePath.js': ['validateCertificatePath'],
  'helpers/validateExtFIDOGenCEAAGUID.js': ['validateExtFIDOGenCEAAGUID'],
  'metadata/verifyAttestationWithMetadata.js': ['verifyAttestationWithMetadata'],
  'registration/verifications/tpm/verifyAttestationTPM.js': ['verifyAttestationTPM'],
  'registration/verifications/verifyAttestationAndroidKey.js': ['verifyAttestationAndroidKey'],
  'registration/verifications/verifyAttestationAndroidSafetyNet.js': ['verifyAttestationAndroidSafetyNet'],
  'registration/verifications/verifyAttestationApple.js': ['verifyAttestationApple'],
  'registration/verifications/verifyAttestationFIDOU2F.js': ['verifyAttestationFIDOU2F'],
  'services/metadataService.js': ['MetadataService'],
};

const standIn = (names: readonly string[]): string =>
  names
    .map((name) => `export const ${name} = () => { throw new Error('${name} is left out of the bundles'); };`)
    .join('\n');

/**
 * Removes the verification of attestation certificates, two thirds of the package; `ceremony.ts` rejects attestations
 * earlier. Fails if a version has moved one of these files.
 */
export const leanWebauthnIn = (lib: string): Plugin => ({
  name: 'lean-webauthn',
  setup: (build) => {
    const missing = Object.keys(leftOut).filter((file) => !existsSync(join(lib, file)));
    if (missing.length > 0) throw new DeployProblem(`@simplewebauthn/server no longer has ${missing.join(', ')}`);
    build.onLoad({ filter: /[\\/]node_modules[\\/]@simplewebauthn[\\/]server[\\/]/ }, ({ path }) => {
      const names = leftOut[relative(lib, path).replaceAll('\\', '/')];
      return names && { contents: standIn(names) };
    });
  },
});

const require = createRequire(import.meta.url);

export const leanWebauthn = leanWebauthnIn(join(dirname(require.resolve('@simplewebauthn/server')), '../esm'));
