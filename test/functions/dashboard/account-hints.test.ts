import { beforeAll, describe, expect, test } from 'vitest';
import { type Developer, newDeveloper } from '../../support/fixtures/project.ts';

interface Answer {
  readonly hints?: readonly string[];
  readonly data: { readonly _id: string };
}

let developer: Developer;

beforeAll(async () => {
  developer = await newDeveloper();
});

const create = (settings: object) => developer.dashboard<Answer>('POST', '/api/projects', { name: 'app', ...settings });
const update = (id: string, settings: object) => developer.dashboard<Answer>('PATCH', `/api/projects/${id}`, settings);

describe('turning accounts on', () => {
  test('200 and 201 with a hint that names what needs a site: cookies, links in emails, social sign-in', async () => {
    const made = await create({ authEnabled: true });
    const other = (await create({})).body.data._id;
    const turnedOn = await update(other, { authEnabled: true });
    expect([made.status, turnedOn.status]).toEqual([201, 200]);
    for (const { body } of [made, turnedOn]) {
      expect(body.hints).toHaveLength(1);
      for (const part of ['siteUrl', 'cookie', 'allowedDomains', 'link', 'social']) {
        expect(body.hints?.[0]).toContain(part);
      }
      expect(body.data).not.toHaveProperty('hints');
    }
  });

  test('the hint does not mention cookies when the pages are listed one by one', async () => {
    const { body } = await create({ authEnabled: true, allowedDomains: ['https://app.example.com'] });
    expect(body.hints).toEqual([expect.stringContaining('siteUrl')]);
    expect(body.hints?.[0]).not.toContain('cookie');
  });

  test.each<[string, object]>([
    ['with a site', { authEnabled: true, siteUrl: 'https://app.example.com' }],
    ['when accounts stay off', { authEnabled: false }],
    ['when the request does not mention accounts', {}],
  ])('201 without hints %s', async (_name, settings) => {
    const { status, body } = await create(settings);
    expect(status).toBe(201);
    expect(body).not.toHaveProperty('hints');
  });

  test('200 with the hint for each change after which the site is missing, and without it for other changes', async () => {
    const { _id } = (await create({})).body.data;
    expect((await update(_id, { allowedDomains: ['*'] })).body).not.toHaveProperty('hints');
    expect((await update(_id, { authEnabled: true })).body.hints).toHaveLength(1);
    expect((await update(_id, { name: 'renamed' })).body).not.toHaveProperty('hints');
    expect((await update(_id, { allowPublicSignup: false })).body).not.toHaveProperty('hints');
    expect((await update(_id, { allowedDomains: ['*', '*.example.com'] })).body.hints?.[0]).toContain('cookie');
    expect((await update(_id, { siteUrl: 'https://app.example.com' })).body).not.toHaveProperty('hints');
    expect((await update(_id, { siteUrl: null })).body.hints).toHaveLength(1);
    expect((await update(_id, { authEnabled: false })).body).not.toHaveProperty('hints');
  });
});
