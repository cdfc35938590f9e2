import { S3Client } from '@aws-sdk/client-s3';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { clock } from '../../../shared/core/clock.ts';
import { removeProjectFiles } from '../../../shared/deletion/projects.ts';
import { managedBucket } from '../../../shared/files/bucket.ts';
import { sweepUploads } from '../../../shared/files/cleanup.ts';
import { confirmUpload } from '../../../shared/files/confirm-upload.ts';
import { deleteFile, deleteFiles } from '../../../shared/files/delete-files.ts';
import { fileKey, pendingKey, type UserQuotaItem, userQuotaKey } from '../../../shared/files/file-items.ts';
import { listFiles, storageUsage } from '../../../shared/files/list-files.ts';
import { changeVisibility } from '../../../shared/files/move-file.ts';
import { requestUpload, requestUserUpload } from '../../../shared/files/request-upload.ts';
import { JsonClient } from '../../../shared/persistence/aws-client.ts';
import { get } from '../../../shared/persistence/table.ts';
import type { Project } from '../../../shared/projects/project.ts';
import { laterRefusalOf } from '../../support/data/refusal.ts';
import { put } from '../../support/fixtures/files.ts';
import { useOwnTable } from '../../support/fixtures/own-table.ts';
import { storageProject } from '../../support/fixtures/storage-project.ts';

const minute = 60 * 1000;
const hour = 60 * minute;

beforeAll(useOwnTable);

let project: Project;
/** Continues between tests, because the cleanup stores how far it got. */
let now = clock.now();

beforeEach(() => {
  project = storageProject();
  clock.now = () => now;
});

afterEach(async () => {
  vi.restoreAllMocks();
  // Cleans up what the test left, so that nothing is due in the next one.
  now += 30 * hour;
  await sweepUploads();
});

const request = () => requestUpload(project, { filename: 'a.txt', contentType: 'text/plain', size: 5 });

const uploaded = async (): Promise<string> => {
  const { signedUrl, filePath } = await request();
  expect(await put(signedUrl, 'hello')).toBe(200);
  return filePath;
};

const confirmed = async (): Promise<string> => {
  const filePath = await uploaded();
  await confirmUpload(project, filePath, 5);
  return filePath;
};

const usage = async () => {
  const { used, held, files } = await storageUsage(project);
  return { used, held, files };
};

const isAt = async (key: string): Promise<boolean> => (await managedBucket.head(key)) !== null;

const nothing = { used: 0, held: 0, files: 0 };
const one = { used: 5, held: 5, files: 1 };

describe('the cleanup', () => {
  test('ends a reservation without an upload after 15 minutes, not before', async () => {
    const { filePath } = await request();
    now += 14.9 * minute;
    await sweepUploads();
    expect(await usage()).toEqual({ used: 0, held: 5, files: 0 });
    now += 0.2 * minute;
    expect(await sweepUploads()).toBe(1);
    expect(await usage()).toEqual(nothing);
    expect(await laterRefusalOf(confirmUpload(project, filePath, 5))).toMatchObject({ code: 'FILE_NOT_FOUND' });
  });

  test('lets an arrived upload be confirmed for 15 more minutes', async () => {
    const [early, late] = [await uploaded(), await uploaded()];
    now += 15.1 * minute;
    await Promise.all([sweepUploads(), sweepUploads()]);
    expect(await usage()).toEqual({ used: 0, held: 10, files: 0 });
    now += 14 * minute;
    await sweepUploads();
    await confirmUpload(project, early, 5);
    now += 2 * minute;
    expect(await sweepUploads()).toBe(2);
    expect(await usage()).toEqual(one);
    expect(await laterRefusalOf(confirmUpload(project, late, 5))).toMatchObject({ code: 'FILE_NOT_FOUND' });
  });

  test('refunds a user’s reservation', async () => {
    const owner = 'f'.repeat(24);
    const upload = { filename: 'a.txt', contentType: 'text/plain', size: 5 };
    for (let made = 0; made < 20; made++) await requestUserUpload(project, owner, upload);
    const refusal = await laterRefusalOf(requestUserUpload(project, owner, upload));
    expect(refusal).toMatchObject({ code: 'USER_QUOTA_EXCEEDED' });
    now += 15.1 * minute;
    await sweepUploads();
    expect(await usage()).toEqual(nothing);
    const { held, files, reservations } =
      (await get<UserQuotaItem>(userQuotaKey({ projectId: project.id, storageId: 'managed' }, owner))) ?? {};
    expect({ held, files, reservations }).toEqual({ held: 0, files: 0, reservations: 0 });
    await requestUserUpload(project, owner, upload);
  });

  test('ends and removes an arrived upload half an hour after its request', async () => {
    const filePath = await uploaded();
    now += 15.1 * minute;
    await sweepUploads();
    expect(await isAt(pendingKey(filePath))).toBe(true);
    now += 15.1 * minute;
    expect(await sweepUploads()).toBe(1);
    expect(await usage()).toEqual(nothing);
    expect(await isAt(pendingKey(filePath))).toBe(false);
    expect(await laterRefusalOf(confirmUpload(project, filePath, 5))).toMatchObject({ code: 'FILE_NOT_FOUND' });
  });

  test('ends an upload that never arrived', async () => {
    await request();
    now += 25 * hour;
    await sweepUploads();
    expect(await usage()).toEqual(nothing);
  });

  test('leaves a confirmed file and removes its pending object', async () => {
    const filePath = await confirmed();
    now += 25 * hour;
    await sweepUploads();
    expect(await usage()).toEqual(one);
    expect([await isAt(pendingKey(filePath)), await isAt(fileKey(filePath, 'public'))]).toEqual([false, true]);
    expect(await confirmUpload(project, filePath, 5)).toMatchObject({ path: filePath });
    expect(await laterRefusalOf(confirmUpload(project, filePath, 6))).toMatchObject({ code: 'SIZE_MISMATCH' });
  });

  test('finds each path once, however often it runs', async () => {
    for (let made = 0; made < 5; made++) await uploaded();
    now += 25 * hour;
    const runs = await Promise.all([sweepUploads(), sweepUploads()]);
    expect(Math.max(...runs)).toBeGreaterThan(0);
    expect(await usage()).toEqual(nothing);
    expect(await sweepUploads()).toBe(0);
  });

  test('catches up after a day without runs', async () => {
    await uploaded();
    now += 90 * hour;
    expect(await sweepUploads()).toBe(1);
    expect(await usage()).toEqual(nothing);
  });

  test('works after a clock was set back', async () => {
    const right = now;
    now += 100 * hour;
    await sweepUploads();
    now = right;
    await uploaded();
    now += 25 * hour;
    expect(await sweepUploads()).toBe(1);
    now += 150 * hour;
  });

  test('removes what was uploaded again to the path of a deleted file', async () => {
    const { signedUrl, filePath } = await request();
    await put(signedUrl, 'hello');
    await confirmUpload(project, filePath, 5);
    await deleteFile(project, filePath);
    await put(signedUrl, 'hello');
    now += 0.3 * hour;
    await sweepUploads();
    expect(await isAt(pendingKey(filePath))).toBe(false);
  });
});

/** Simulates a crash: after this many commands to the table and the storage, none is sent. */
const crashAfter = (commands: number): void => {
  let left = commands;
  for (const { prototype } of [S3Client, JsonClient]) {
    const send = prototype.send as (...args: unknown[]) => Promise<unknown>;
    vi.spyOn(prototype, 'send').mockImplementation(function (this: unknown, ...args: unknown[]) {
      if (left-- <= 0) return Promise.reject(new Error('crashed'));
      return send.apply(this, args);
    } as never);
  }
};

/** Runs `act` with a crash after each of its steps. Returns the number of steps. */
const withCrashes = async (
  prepare: () => Promise<string>,
  act: (filePath: string) => Promise<unknown>,
  check: (filePath: string) => Promise<void>,
): Promise<number> => {
  for (let steps = 0; ; steps++) {
    project = storageProject();
    const filePath = await prepare();
    crashAfter(steps);
    const ended = await act(filePath).then(
      () => true,
      () => false,
    );
    vi.restoreAllMocks();
    await check(filePath);
    if (ended) return steps;
  }
};

/** Charges, objects and lists are consistent, and nothing else is left. */
const expectSettled = async (filePath: string): Promise<void> => {
  now += 25 * hour;
  await sweepUploads();
  const { items, total } = await listFiles(project, { page: 1, limit: 10 });
  expect(await usage()).toEqual(items.length === 1 ? one : nothing);
  expect(total).toBe(items.length);
  expect(await isAt(fileKey(filePath, 'public'))).toBe(items.length === 1);
  expect(await isAt(pendingKey(filePath))).toBe(false);
};

describe('a crash between any two steps leaves charges and objects consistent:', () => {
  test('of a request', async () => {
    let filePath = '';
    const act = async () => {
      ({ filePath } = await request());
    };
    const steps = await withCrashes(
      async () => '',
      act,
      async () => {
        now += 25 * hour;
        await sweepUploads();
        expect(await usage()).toEqual(nothing);
      },
    );
    expect({ steps, filePath: filePath !== '' }).toEqual({ steps: 1, filePath: true });
  });

  test('of a confirmation without a repeat', async () => {
    const steps = await withCrashes(uploaded, (filePath) => confirmUpload(project, filePath, 5), expectSettled);
    expect(steps).toBe(4);
  });

  test('of a confirmation with a repeat', async () => {
    const steps = await withCrashes(
      uploaded,
      (filePath) => confirmUpload(project, filePath, 5),
      async (filePath) => {
        await confirmUpload(project, filePath, 5);
        expect(await usage()).toEqual(one);
        expect(await isAt(fileKey(filePath, 'public'))).toBe(true);
        await expectSettled(filePath);
      },
    );
    expect(steps).toBe(4);
  });

  test.each([
    ['private', 'public'],
    ['public', 'private'],
  ] as const)('of a change from %s to %s, which leaves one file where the table says', async (from, to) => {
    const there = async (filePath: string, expected: 'public' | 'private') => {
      now += 8 * 24 * hour;
      await sweepUploads();
      const { items } = await listFiles(project, { page: 1, limit: 1 });
      expect(items[0]).toMatchObject({ path: filePath });
      const [state] = items.map(({ visibility }) => visibility);
      expect([from, to]).toContain(state);
      expect([await isAt(fileKey(filePath, 'public')), await isAt(fileKey(filePath, 'private'))]).toEqual(
        state === 'public' ? [true, false] : [false, true],
      );
      await changeVisibility(project, filePath, expected);
      expect(await isAt(fileKey(filePath, expected))).toBe(true);
      expect(await usage()).toEqual(one);
      await deleteFile(project, filePath);
      expect(await usage()).toEqual(nothing);
    };
    const steps = await withCrashes(
      async () => {
        const filePath = await confirmed();
        await changeVisibility(project, filePath, from);
        return filePath;
      },
      (filePath) => changeVisibility(project, filePath, to),
      (filePath) => there(filePath, to),
    );
    expect(steps).toBeGreaterThan(5);
  });

  test('of nothing: a file that became public stays at its private place for a week', async () => {
    const filePath = await confirmed();
    await changeVisibility(project, filePath, 'private');
    await changeVisibility(project, filePath, 'public');
    now += 6.9 * 24 * hour;
    await sweepUploads();
    expect(await isAt(fileKey(filePath, 'private'))).toBe(true);
    now += 0.2 * 24 * hour;
    await sweepUploads();
    expect([await isAt(fileKey(filePath, 'public')), await isAt(fileKey(filePath, 'private'))]).toEqual([true, false]);
  });

  test('of the cleanup of that private place, with a concurrent one', async () => {
    const steps = await withCrashes(
      async () => {
        const filePath = await confirmed();
        await changeVisibility(project, filePath, 'private');
        await changeVisibility(project, filePath, 'public');
        now += 7 * 24 * hour;
        await sweepUploads();
        now += hour;
        return filePath;
      },
      () => sweepUploads(),
      async (filePath) => {
        await sweepUploads();
        now += 2 * hour;
        await sweepUploads();
        expect([await isAt(fileKey(filePath, 'public')), await isAt(fileKey(filePath, 'private'))]).toEqual([
          true,
          false,
        ]);
      },
    );
    expect(steps).toBeGreaterThan(4);
  });

  test('of a deletion', async () => {
    const steps = await withCrashes(
      confirmed,
      (filePath) => deleteFile(project, filePath),
      async (filePath) => {
        now += 0.3 * hour;
        await sweepUploads();
        await expectSettled(filePath);
      },
    );
    expect(steps).toBe(2);
  });

  test('of the cleanup of a request', async () => {
    const steps = await withCrashes(
      uploaded,
      () => {
        now += 25 * hour;
        return sweepUploads();
      },
      expectSettled,
    );
    expect(steps).toBeGreaterThan(5);
  });
});

/** Runs `act` after the response of a call to the storage, before its caller continues. */
const meanwhile = (name: 'head' | 'copy', act: () => Promise<unknown>): void => {
  const plain = managedBucket[name] as (...args: unknown[]) => Promise<unknown>;
  vi.spyOn(managedBucket, name).mockImplementationOnce((async (...args: unknown[]) => {
    const answer = await plain(...args);
    await act();
    return answer;
  }) as never);
};

describe('a confirmation that another request overtakes', () => {
  test.each(['head', 'copy'] as const)(
    'by confirming and deleting the file after its %s restores nothing',
    async (place) => {
      const filePath = await uploaded();
      meanwhile(place, async () => {
        await confirmUpload(project, filePath, 5);
        await deleteFile(project, filePath);
      });
      expect(await laterRefusalOf(confirmUpload(project, filePath, 5))).toMatchObject({ code: 'FILE_NOT_FOUND' });
      expect(await isAt(fileKey(filePath, 'public'))).toBe(false);
      expect(await usage()).toEqual(nothing);
    },
  );

  test('404 even when the file is uploaded again in between', async () => {
    const { signedUrl, filePath } = await request();
    await put(signedUrl, 'hello');
    meanwhile('head', async () => {
      await confirmUpload(project, filePath, 5);
      await deleteFile(project, filePath);
      await put(signedUrl, 'hello');
    });
    expect(await laterRefusalOf(confirmUpload(project, filePath, 5))).toMatchObject({ code: 'FILE_NOT_FOUND' });
    expect(await isAt(fileKey(filePath, 'public'))).toBe(false);
    expect(await usage()).toEqual(nothing);
  });

  test.each(['head', 'copy'] as const)(
    '404 by the cleanup after its %s: nothing is public or reserved',
    async (place) => {
      const filePath = await uploaded();
      meanwhile(place, async () => {
        now += 25 * hour;
        await sweepUploads();
      });
      expect(await laterRefusalOf(confirmUpload(project, filePath, 5))).toMatchObject({ code: 'FILE_NOT_FOUND' });
      expect(await isAt(fileKey(filePath, 'public'))).toBe(false);
      expect(await usage()).toEqual(nothing);
    },
  );

  test('409 by another version, which can be confirmed later', async () => {
    const { signedUrl, filePath } = await request();
    await put(signedUrl, 'first');
    meanwhile('head', () => put(signedUrl, 'other'));
    expect(await laterRefusalOf(confirmUpload(project, filePath, 5))).toMatchObject({ code: 'UPLOAD_NOT_READY' });
    expect(await usage()).toEqual({ used: 0, held: 5, files: 0 });
    const { url } = await confirmUpload(project, filePath, 5);
    expect(await (await fetch(url ?? '')).text()).toBe('other');
  });
});

describe('the files of a project', () => {
  test('are listed newest first, in pages, only if confirmed', async () => {
    const paths: string[] = [];
    for (let made = 0; made < 5; made++) {
      now += 1000;
      paths.unshift(await confirmed());
    }
    await uploaded();
    const pathsOn = async (page: number) =>
      (await listFiles(project, { page, limit: 2 })).items.map(({ path }) => path);
    expect([await pathsOn(1), await pathsOn(2), await pathsOn(3), await pathsOn(4)]).toEqual([
      paths.slice(0, 2),
      paths.slice(2, 4),
      paths.slice(4),
      [],
    ]);
    const { items, ...rest } = await listFiles(project, { page: 1, limit: 1 });
    expect(rest).toEqual({ total: 5, page: 1, limit: 1 });
    expect(items).toEqual([
      {
        path: paths[0],
        name: 'a.txt',
        size: 5,
        contentType: 'text/plain',
        visibility: 'public',
        owner: null,
        document: null,
        url: expect.stringContaining(paths[0] ?? ''),
        createdAt: new Date(now),
      },
    ]);
  });

  test('400 INVALID_QUERY beyond the 10 000th', async () => {
    expect(await laterRefusalOf(listFiles(project, { page: 101, limit: 100 }))).toMatchObject({
      code: 'INVALID_QUERY',
    });
    expect((await listFiles(project, { page: 100, limit: 100 })).items).toEqual([]);
  });

  test('are deleted together, ignoring paths without a file', async () => {
    const [first, second, kept] = [await confirmed(), await confirmed(), await confirmed()];
    const pending = await uploaded();
    const foreign = `${'f'.repeat(24)}/${first.slice(25)}`;
    const gone = await deleteFiles(project, [first, second, second, pending, foreign, 'nonsense']);
    expect(gone).toEqual({ deleted: [first, second], notFound: [pending, foreign, 'nonsense'] });
    expect(await usage()).toEqual({ used: 5, held: 10, files: 1 });
    expect([await isAt(fileKey(first, 'public')), await isAt(fileKey(kept, 'public'))]).toEqual([false, true]);
  });

  test('are removed with it, and those of no other project', async () => {
    const filePath = await confirmed();
    const pending = await uploaded();
    const { id } = project;
    project = storageProject();
    const theirs = await confirmed();
    expect(await removeProjectFiles(id, 1)).toMatchObject({ complete: false });
    expect((await removeProjectFiles(id, 6)).complete).toBe(true);
    expect([
      await isAt(fileKey(filePath, 'public')),
      await isAt(pendingKey(pending)),
      await isAt(fileKey(theirs, 'public')),
    ]).toEqual([false, false, true]);
    expect(await removeProjectFiles(id, 6)).toEqual({ removed: 0, complete: true });
  });
});
