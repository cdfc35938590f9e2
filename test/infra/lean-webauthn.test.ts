import { tmpdir } from 'node:os';
import { build } from 'esbuild';
import { expect, test } from 'vitest';
import { bundling } from '../../infra/build/bundle.ts';
import { leanWebauthnIn, leftOut } from '../../infra/build/webauthn/lean-webauthn.ts';

const contents = "export { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';";
const stdin = { contents, resolveDir: bundling.absWorkingDir };

test('bundle contains no code that verifies certificate chains or fetches their lists', async () => {
  const { metafile } = await build({ ...bundling, stdin, write: false, outExtension: {}, metafile: true });
  const inputs = Object.values(metafile.outputs)[0]?.inputs ?? {};
  const path = 'node_modules/@simplewebauthn/server/esm/';
  const verifier = inputs[`${path}registration/verifyRegistrationResponse.js`];
  expect(verifier?.bytesInOutput).toBeGreaterThan(1000);
  for (const [file, names] of Object.entries(leftOut)) {
    expect(inputs[path + file]?.bytesInOutput ?? 0, file).toBeLessThan(150 * names.length);
  }
  expect(
    Object.keys(inputs).filter((file) => /@peculiar\/x509\/|reflect-metadata|esm\/helpers\/fetch/.test(file)),
  ).toEqual([]);
});

test('build fails when the package has moved a file', async () => {
  const failed = build({ ...bundling, stdin, write: false, plugins: [leanWebauthnIn(tmpdir())] });
  await expect(failed).rejects.toThrow(/@simplewebauthn\/server no longer has helpers\/convertX509PublicKeyToCOSE\.js/);
});
