import {
  createRemoteJWKSet,
  customFetch as customFetchOption,
  decodeProtectedHeader,
  type FetchImplementation,
  jwtVerify,
} from 'jose';
import { afterEach, describe, expect, inject, test, vi } from 'vitest';
import { getJwks, issueAccessToken, verifyAccessToken } from '../../../shared/accounts/tokens.ts';
import { findProjectByKey, forgetProjects } from '../../../shared/collections/find-project-by-key.ts';
import { clock } from '../../../shared/core/clock.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { inParallel, tally } from '../../support/clients/client.ts';
import { eventually } from '../../support/clients/eventually.ts';
import { newProject, type TestProject } from '../../support/fixtures/project.ts';

const realNow = clock.now;
const bearer = { userId: 'a'.repeat(24), sessionId: 'b'.repeat(24) };
const minutes = 60_000;

afterEach(() => {
  clock.now = realNow;
  vi.restoreAllMocks();
});

const rotate = ({ developer, id }: TestProject) =>
  developer.dashboard<{ data: { kid: string; signsFrom: string } }>('POST', `/api/projects/${id}/signing-keys/rotate`);

/** The project as a function has it directly after a lookup. */
const known = async ({ secretKey }: TestProject): Promise<Project> => {
  forgetProjects();
  const match = await findProjectByKey(secretKey, '');
  if (!match) throw new Error('The project is gone');
  return match.project;
};

const advanceTo = (ms: number): void => {
  clock.now = () => realNow() + ms;
};

const sign = async (project: Project): Promise<string> => (await issueAccessToken(project, bearer)).accessToken;
const kidsOf = (project: Project) => getJwks(project).keys.map(({ kid }) => kid);

describe('rotating the signing key', () => {
  test('201 with the new key’s id; issued tokens stay valid until they expire, then the old key is removed', async () => {
    const project = await newProject();
    const before = await known(project);
    const old = await sign(before);
    const answer = await rotate(project);
    expect(answer.status).toBe(201);
    const { kid } = answer.body.data;

    const published = await known(project);
    expect(kidsOf(published)).toEqual([...kidsOf(before), kid]);
    expect(await verifyAccessToken(published, old)).toEqual(bearer);
    expect(decodeProtectedHeader(await sign(published)).kid).not.toBe(kid);

    expect(Date.parse(answer.body.data.signsFrom) - Date.now()).toBeGreaterThan(15 * minutes);

    advanceTo(19 * minutes);
    expect(decodeProtectedHeader(await sign(published)).kid).not.toBe(kid);
    advanceTo(20 * minutes);
    const late = await sign(before);
    const current = await sign(published);
    expect(decodeProtectedHeader(current).kid).toBe(kid);
    expect(await verifyAccessToken(published, late)).toEqual(bearer);
    expect(await verifyAccessToken(published, current)).toEqual(bearer);

    advanceTo(34.9 * minutes);
    expect(await verifyAccessToken(published, late)).toEqual(bearer);
    advanceTo(36 * minutes);
    expect(kidsOf(published)).toEqual([kid]);
    await expect(verifyAccessToken(published, late)).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
  });

  test('200 for every user at a server that caches the key set while the key is rotated', async () => {
    const project = await newProject();
    const url = new URL(`/api/userAuth/jwks/${project.id}`, inject('stack').baseUrl);
    // A cache in front of the API, which keeps the key set as long as the response allows, by the test’s own clock.
    let now = Date.now();
    let kept: { readonly text: string; readonly until: number } | undefined;
    let fetches = 0;
    const customFetch = (async (address: string) => {
      if (!kept || kept.until <= now) {
        const answer = await fetch(address);
        const maxAge = /^public, max-age=(\d+)$/.exec(answer.headers.get('cache-control') ?? '')?.[1];
        kept = { text: await answer.text(), until: now + Number(maxAge) * 1000 };
      }
      fetches += 1;
      return new Response(kept.text, { status: 200 });
    }) as FetchImplementation;
    vi.spyOn(Date, 'now').mockImplementation(() => now);
    clock.now = () => now;
    const keySet = createRemoteJWKSet(url, { [customFetchOption]: customFetch });
    const verify = async (signedBy: Project) =>
      jwtVerify(await sign(signedBy), keySet, { audience: project.id, currentDate: new Date(now) });
    const before = await known(project);
    await verify(before);
    const { kid } = (await rotate(project)).body.data;
    const rotated = await known(project);
    // A process may use a cached project for 5 s, which the test’s clock cannot shorten, so many requests reach all
    // processes.
    await eventually(async () => {
      const texts = await Promise.all(Array.from({ length: 20 }, async () => (await fetch(url)).text()));
      expect(texts.filter((text) => !text.includes(kid))).toEqual([]);
    });
    const start = now;
    const kids = new Set<unknown>();
    for (; now < start + 40 * minutes; now += 20_000) {
      const { protectedHeader } = await verify(rotated);
      kids.add(protectedHeader.kid);
    }
    expect([...kids]).toEqual([...kidsOf(before), kid]);
    expect(fetches).toBeLessThan(10);
  });

  test('201 a second time does not extend the lifetime of the first replaced key', async () => {
    const project = await newProject();
    const [first] = kidsOf(await known(project));
    const endOf = async () => (await known(project)).signingKeys.find(({ kid }) => kid === first)?.retiresAt?.getTime();
    await rotate(project);
    const end = await endOf();
    expect(end).toEqual(expect.any(Number));
    await rotate(project);
    expect(await endOf()).toBe(end);
  });

  test('201 for 19 concurrent rotations: every key is kept, and the first token stays valid', async () => {
    const project = await newProject();
    const token = await sign(await known(project));
    expect(tally(await inParallel(19, () => rotate(project)))).toEqual({ 201: 19 });
    const now = await known(project);
    expect(kidsOf(now)).toHaveLength(20);
    expect(await verifyAccessToken(now, token)).toEqual(bearer);
  });

  test('201 for 40 concurrent rotations: the current signing key is among the 20 that are kept', async () => {
    const project = await newProject();
    const before = await sign(await known(project));
    expect(tally(await inParallel(40, () => rotate(project)))).toEqual({ 201: 40 });
    const rotated = await known(project);
    expect(kidsOf(rotated)).toHaveLength(20);
    for (const token of [before, await sign(rotated)]) {
      expect(decodeProtectedHeader(token).kid).toBe(decodeProtectedHeader(before).kid);
      expect(await verifyAccessToken(rotated, token)).toMatchObject(bearer);
    }
  });

  test('contains nothing private', async () => {
    const project = await newProject();
    await rotate(project);
    const view = await project.developer.dashboard('GET', `/api/projects/${project.id}`);
    expect(JSON.stringify(view.body)).not.toMatch(/encryptedPrivateKey|signingKeys|"d":/);
  });
});
