import { beforeAll, describe, expect, test } from 'vitest';
import type { RequestOptions } from '../../support/clients/client.ts';
import { claimsOf, newUsersProject, type UsersProject } from '../../support/fixtures/users.ts';

/*
 * Chains of references, A → B → C, in which rules hide B or C. `populate` follows one level and shows what the caller
 * gets by id. Otherwise the id stays, or `null` if the document is trashed or missing.
 */

const me = { $user: '_id' };
const rules = (read: unknown, more: object = {}) => ({ enabled: true, mode: 'rules', rules: { read, ...more } });
const ref = (key: string, collection: string) => ({ key, type: 'Ref', ref: collection });
const many = (key: string, collection: string) => ({ key, type: 'Array', items: { type: 'Ref', ref: collection } });
const text = (key: string) => ({ key, type: 'String' });

/** The ends of the chain: a public one and Ann’s. */
const ends = { shown: rules(true), hidden: rules({ owner: me }) };

/** The read rules of the middle document. */
const middles = {
  open: { enabled: false },
  everyone: rules(true),
  owned: rules({ owner: me }),
  server: rules(false),
  signedIn: rules({ $user: {} }),
  getOnly: rules({ get: true, list: false }),
  listOnly: rules({ get: false, list: true }),
  throughShown: rules({ $ref: { shown: { text: 'end' } } }),
  throughHidden: rules({ $ref: { hidden: { owner: me } } }),
  private: { enabled: true, mode: 'private', ownerField: 'owner' },
  signedInMode: { enabled: true, mode: 'signed-in', ownerField: 'owner' },
} as const;
const kinds = Object.keys(middles);

type Doc = Readonly<Record<string, unknown>> & { readonly _id: string };
interface Items {
  readonly data: { readonly items: readonly Doc[] };
}

let project: UsersProject;
let annId: string;
let callers: Readonly<Record<string, RequestOptions>>;
/** Ids of chain starts whose middle is active, trashed or missing, and of one with a list of all three. */
let heads: Readonly<Record<string, Readonly<Record<'active' | 'trashed' | 'missing' | 'several', string>>>>;
let active: Readonly<Record<string, string>>;
const middleIds: Record<string, readonly string[]> = {};
const missing = 'f'.repeat(24);

const api = <Body = Doc>(method: string, path: string, who: RequestOptions = {}, body?: unknown) =>
  project.api<Body>(method, `/api/data/${path}`, { ...who, ...(body === undefined ? {} : { body }) });

const insert = async (collection: string, body: object): Promise<string> => {
  const made = await api('POST', collection, {}, body);
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body._id;
};

beforeAll(async () => {
  project = await newUsersProject();
  const [ann, bob] = [await project.newUser(), await project.newUser()];
  annId = String(claimsOf(ann.accessToken).sub);
  const key = project.publishableKey;
  callers = {
    ann: { key, token: ann.accessToken },
    bob: { key, token: bob.accessToken },
    stranger: { key },
    'invalid token': { key, token: `${ann.accessToken}x` },
    'secret key': {},
  };
  for (const [name, rls] of Object.entries(ends)) {
    await project.addCollection({ name: `end_${name}`, schema: [text('text'), text('owner')], rls });
  }
  for (const [name, rls] of Object.entries(middles)) {
    const schema = [text('text'), text('owner'), ref('shown', 'end_shown'), ref('hidden', 'end_hidden')];
    await project.addCollection({ name: `middle_${name}`, schema, rls });
  }
  await project.addCollection({
    name: 'heads',
    schema: [
      text('name'),
      ...kinds.flatMap((kind) => [ref(kind, `middle_${kind}`), many(`${kind}s`, `middle_${kind}`)]),
    ],
  });
  const shown = await insert('end_shown', { text: 'end', owner: annId });
  const hidden = await insert('end_hidden', { text: 'treasure at the end', owner: annId });
  const made = await Promise.all(
    kinds.map(async (kind) => {
      const body = { text: `treasure of ${kind}`, owner: annId, shown, hidden };
      const [one, two] = [await insert(`middle_${kind}`, body), await insert(`middle_${kind}`, body)];
      await api('DELETE', `middle_${kind}/${two}`);
      middleIds[kind] = [one, two];
      const chain = {
        active: await insert('heads', { name: kind, [kind]: one }),
        trashed: await insert('heads', { name: kind, [kind]: two }),
        missing: await insert('heads', { name: kind, [kind]: missing }),
        several: await insert('heads', { name: kind, [`${kind}s`]: [one, two, missing] }),
      };
      return [kind, chain, one] as const;
    }),
  );
  heads = Object.fromEntries(made.map(([kind, chain]) => [kind, chain]));
  active = Object.fromEntries(made.map(([kind, , one]) => [kind, one]));
});

/** Returns a middle as the caller gets it by id, or `undefined`. */
const gotten = async (kind: string, who: RequestOptions): Promise<Doc | undefined> => {
  const { status, body } = await api('GET', `middle_${kind}/${active[kind]}`, who);
  return status === 200 ? body : undefined;
};

/** Returns the middle as each read of a chain shows it: by id, in a list, and by a query. */
const populated = async (id: string, field: string, who: RequestOptions): Promise<readonly unknown[]> => {
  const one = await api('GET', `heads/${id}?populate=${field}`, who);
  const listed = await api<Items>('GET', `heads?_id=${id}&populate=${field}`, who);
  const asked = await api<Items>('POST', 'heads/query', who, { where: { _id: id }, populate: [field] });
  expect([one.status, listed.status, asked.status]).toEqual([200, 200, 200]);
  return [one.body, ...listed.body.data.items, ...asked.body.data.items].map((head) => head[field]);
};

const three = (value: unknown): readonly unknown[] => [value, value, value];

const readers = ['ann', 'bob', 'stranger', 'invalid token', 'secret key'];

describe('populate in a chain of references', () => {
  test.each(readers)('shows to the caller %s what they get by id, and otherwise the id', async (reader) => {
    const who = callers[reader] ?? {};
    for (const kind of kinds) {
      const [chain, shown] = [heads[kind], await gotten(kind, who)];
      if (!chain) throw new Error(`no chain of ${kind}`);
      const [one, two] = middleIds[kind] ?? [];
      const middle = shown ?? one;
      expect(await populated(chain.active, kind, who), kind).toEqual(three(middle));
      const ofTrashed = await populated(chain.trashed, kind, who);
      const ofMissing = await populated(chain.missing, kind, who);
      // The id reveals nothing in a collection that hides documents, so it may stay.
      for (const value of [...ofTrashed, ...ofMissing]) expect([null, two, missing], kind).toContain(value);
      for (const values of await populated(chain.several, `${kind}s`, who)) {
        const [first, second, third] = values as readonly unknown[];
        expect(first, kind).toEqual(middle);
        expect([second, third], kind).toEqual([ofTrashed[0], ofMissing[0]]);
      }
    }
  });

  test('is decided by the get rule, not by list, and follows the reference of the middle', async () => {
    const shownTo = async (reader: string) => {
      const found: string[] = [];
      for (const kind of kinds) if (await gotten(kind, callers[reader] ?? {})) found.push(kind);
      return found;
    };
    expect(await shownTo('secret key')).toEqual(kinds);
    expect(await shownTo('ann')).toEqual(kinds.filter((kind) => kind !== 'server' && kind !== 'listOnly'));
    const bobs = ['open', 'everyone', 'signedIn', 'getOnly', 'throughShown', 'signedInMode'];
    expect(await shownTo('bob')).toEqual(bobs);
    expect(await shownTo('stranger')).toEqual(['open', 'everyone', 'getOnly', 'throughShown']);
    expect(await shownTo('invalid token')).toEqual(['open']);
  });

  test('keeps the end as an id, and shows no middle or end that the caller may not get', async () => {
    for (const reader of ['bob', 'stranger', 'invalid token']) {
      const who = callers[reader] ?? {};
      for (const kind of kinds) {
        const isShown = (await gotten(kind, who)) !== undefined;
        const id = heads[kind]?.active ?? '';
        const answers = [
          await api('GET', `heads/${id}?populate=${kind}`, who),
          await api('GET', `heads?_id=${id}&populate=${kind}&expand=${kind}`, who),
          await api('GET', `heads/${id}?populate=${kind}&include_deleted=true`, who),
          await api('GET', `heads/${heads[kind]?.trashed}?populate=${kind}&include_deleted=true`, who),
          await api('POST', 'heads/query', who, { where: { name: kind }, populate: [kind, `${kind}s`] }),
        ];
        for (const { status, body } of answers) {
          const said = JSON.stringify(body);
          expect([200, 400], said).toContain(status);
          expect(said, `${reader} ${kind}`).not.toContain('treasure at the end');
          if (!isShown) expect(said, `${reader} ${kind}`).not.toMatch(/treasure|end_/);
        }
      }
    }
  });

  test('400 INVALID_QUERY for a path through the middle, whether it is shown or hidden', async () => {
    for (const kind of kinds) {
      for (const path of [`${kind}.hidden`, `${kind}.shown`, `${kind}s.hidden`]) {
        const said = await api('GET', `heads/${heads[kind]?.active}?populate=${path}`, callers.bob);
        expect(said, path).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY' } });
        const asked = await api('POST', 'heads/query', callers.bob, { populate: [path] });
        expect(asked, path).toMatchObject({ status: 400, body: { code: 'INVALID_QUERY' } });
      }
    }
  });

  test('hides a middle when the end no longer fulfills its rule', async () => {
    const end = await insert('end_shown', { text: 'end', owner: annId });
    const middle = await insert('middle_throughShown', { text: 'treasure', shown: end });
    const head = await insert('heads', { throughShown: middle });
    const { bob = {} } = callers;
    for (const value of await populated(head, 'throughShown', bob)) expect(value).toMatchObject({ text: 'treasure' });
    await api('PATCH', `end_shown/${end}`, {}, { text: 'other' });
    expect(await populated(head, 'throughShown', bob)).toEqual(three(middle));
    await api('PATCH', `end_shown/${end}`, {}, { text: 'end' });
    await api('DELETE', `end_shown/${end}`);
    expect(await populated(head, 'throughShown', bob)).toEqual(three(middle));
  });
});
