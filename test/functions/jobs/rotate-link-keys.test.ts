import {
  CloudFrontClient,
  CreatePublicKeyCommand,
  DeletePublicKeyCommand,
  GetKeyGroupCommand,
  GetPublicKeyConfigCommand,
  ListPublicKeysCommand,
  UpdateKeyGroupCommand,
} from '@aws-sdk/client-cloudfront';
import { mockClient } from 'aws-sdk-client-mock';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { handler as rotate } from '../../../functions/jobs/rotate-link-keys.ts';
import { clock } from '../../../shared/core/clock.ts';
import { knownLinkKeys, linkKeyOf, publicPem } from '../../../shared/files/link-keys.ts';
import { deleteAll } from '../../../shared/persistence/table.ts';
import { useOwnTable } from '../../support/fixtures/own-table.ts';

const day = 24 * 60 * 60_000;
process.env.LINK_KEY_GROUP = 'group';
process.env.LINK_KEY_PREFIX = 'Test';

beforeAll(useOwnTable);

/** CloudFront's keys by id, and its group, which is written with its version. */
const makeCloudFront = () => {
  const keys = new Map<string, { readonly name: string; readonly pem: string }>([
    ['first', { name: 'First', pem: '' }],
  ]);
  const group = { items: ['first'], version: 1 };
  let calls = 0;
  let dieAt = Number.POSITIVE_INFINITY;
  const called = (name: string, message = name): Error => Object.assign(new Error(message), { name });
  const count = (): void => {
    if (++calls === dieAt) throw called('Died');
  };
  const mock = mockClient(CloudFrontClient);
  mock.on(ListPublicKeysCommand).callsFake(() => {
    count();
    const Items = [...keys].map(([Id, { name }]) => ({ Id, Name: name, CreatedTime: new Date(), EncodedKey: '' }));
    return { PublicKeyList: { Items, MaxItems: 100, Quantity: Items.length } };
  });
  mock.on(CreatePublicKeyCommand).callsFake(({ PublicKeyConfig: { Name, EncodedKey } }) => {
    count();
    if ([...keys.values()].some(({ name }) => name === Name)) throw called('PublicKeyAlreadyExists');
    const id = `K${keys.size}${Name.slice(-2)}`;
    keys.set(id, { name: Name, pem: EncodedKey });
    return { PublicKey: { Id: id } };
  });
  mock.on(GetKeyGroupCommand).callsFake(() => {
    count();
    return { ETag: String(group.version), KeyGroup: { KeyGroupConfig: { Name: 'LinkKeys', Items: [...group.items] } } };
  });
  mock.on(UpdateKeyGroupCommand).callsFake(({ IfMatch, KeyGroupConfig: { Items } }) => {
    count();
    if (IfMatch !== String(group.version)) throw called('PreconditionFailed');
    group.items = Items;
    group.version++;
    return {};
  });
  mock.on(GetPublicKeyConfigCommand).callsFake(() => {
    count();
    return { ETag: '1' };
  });
  mock.on(DeletePublicKeyCommand).callsFake(({ Id }) => {
    count();
    if (group.items.includes(Id)) throw called('PublicKeyInUse');
    keys.delete(Id);
    return {};
  });
  return {
    keys,
    group,
    mock,
    /** The next run ends at its `call`th call, counted from 1. */
    dieAt: (call: number) => {
      calls = 0;
      dieAt = call;
    },
    get calls() {
      return calls;
    },
  };
};

let cloudFront: ReturnType<typeof makeCloudFront>;
let now = Date.parse('2026-03-01T10:00:00Z');

beforeEach(async () => {
  cloudFront = makeCloudFront();
  clock.now = () => now;
  await deleteAll(await knownLinkKeys());
});

afterEach(() => {
  cloudFront.mock.restore();
  vi.restoreAllMocks();
});

/** Every key that signs, or will, is one that CloudFront lets open links, with the public half that it signs with. */
const expectTrusted = async (): Promise<void> => {
  for (const { id, period } of await knownLinkKeys()) {
    expect(cloudFront.group.items).toContain(id);
    expect(cloudFront.keys.get(id)?.pem).toBe(publicPem(await linkKeyOf(period)));
  }
};

describe('the keys that sign links', () => {
  test('a new key replaces the first key when that signs nothing, then not for 30 days', async () => {
    await rotate();
    const [key, ...others] = await knownLinkKeys();
    expect([key?.period, key?.from, others.length]).toEqual(['2026-03-01', now, 0]);
    expect(cloudFront.group.items).toEqual([key?.id]);
    await expectTrusted();
    now += 29 * day;
    cloudFront.dieAt(1);
    await rotate();
    expect(cloudFront.calls).toBe(0);
  });

  test('a new one is known to CloudFront 15 minutes before it signs, the old one for 8 days more', async () => {
    await rotate();
    now += 30 * day;
    await rotate();
    const [fresh, old] = await knownLinkKeys();
    expect(fresh?.from).toBe(now + 15 * 60_000);
    expect(new Set(cloudFront.group.items)).toEqual(new Set([fresh?.id, old?.id]));
    now += 7.9 * day;
    await rotate();
    expect(cloudFront.group.items).toHaveLength(2);
    now += 0.2 * day;
    await rotate();
    expect([cloudFront.group.items, (await knownLinkKeys()).length]).toEqual([[fresh?.id], 1]);
    expect([...cloudFront.keys.values()].map(({ name }) => name)).toEqual(['First', `Test-links-${fresh?.period}`]);
    await expectTrusted();
  });

  test('one key is created when ten runs start concurrently', async () => {
    await Promise.allSettled(Array.from({ length: 10 }, rotate));
    await rotate();
    expect(await knownLinkKeys()).toHaveLength(1);
    expect(cloudFront.group.items).toHaveLength(1);
    await expectTrusted();
  });

  test('no untrusted key signs when a run is killed at any call, and the next run completes the work', async () => {
    for (const later of [0, 30, 38.5]) {
      for (let call = 1; ; call++) {
        cloudFront.dieAt(call);
        const died = await rotate().then(
          () => false,
          () => true,
        );
        await expectTrusted();
        if (!died) break;
        cloudFront.dieAt(Number.POSITIVE_INFINITY);
        await rotate();
        await expectTrusted();
        now += day;
        await rotate();
        expect((await knownLinkKeys()).length).toBeGreaterThan(0);
      }
      now += later * day;
    }
    expect(cloudFront.group.items.length).toBeLessThanOrEqual(3);
  });
});
