import { createServer } from 'node:http';
import { ObjectId } from 'mongodb';
import { vi } from 'vitest';
import { handler as maintainTransfers } from '../../../../functions/jobs/maintain-transfers.ts';
import { handler as requeueMail } from '../../../../functions/jobs/requeue-mail.ts';
import { handler as sweepUploads } from '../../../../functions/jobs/sweep-uploads.ts';
import { permitAddresses } from '../../../../infra/local/permit-addresses.ts';
import { listen } from '../../../../infra/local/ports.ts';
import { clock } from '../../../../shared/core/clock.ts';
import { requestUpload } from '../../../../shared/files/request-upload.ts';
import type { Project } from '../../../../shared/projects/project.ts';
import { transferKey } from '../../../../shared/transfers/transfer.ts';
import { placeFor } from '../../clients/other-storage.ts';
import { makeProject } from '../operations/operation.ts';
import type { World } from '../operations/world.ts';
import { storageProject } from '../storage-project.ts';
import { heldImport, idOf } from '../transfers.ts';
import { control, type DueWork, isGone, unbreakable } from './due-work.ts';

const entriesOf = async (world: World, filePath: string) =>
  (await world.at.allItems()).filter(({ pk, sk }) => pk?.S?.startsWith('due#') && sk?.S?.endsWith(filePath));

/** An upload that nobody will confirm: done once its bytes are given back, and nothing looks for it any more. */
const abandoned = async (world: World, project: Project) => {
  const { filePath } = await requestUpload(project, { filename: 'a.txt', contentType: 'a/b', size: 5 });
  const held = async () =>
    (await world.at.items(`p#${project.id}`)).reduce((sum, item) => sum + Number(item.held?.N ?? 0), 0);
  const done = async () => ((await entriesOf(world, filePath)).length > 0 ? 0 : 1 + (await held()));
  return { filePath, done };
};

/** A storage of the project's own that removes whatever it is asked to, or cuts every connection. */
const ownStorage = async ({ id, project }: { readonly id: string; readonly project: Project }, world: World) => {
  let cuts = false;
  const server = createServer(({ socket }, response) => {
    if (cuts) socket.destroy();
    else response.writeHead(204).end();
  }).unref();
  const endpoint = `http://127.0.0.1:${await listen(server, 0)}`;
  permitAddresses(new URL(endpoint).host);
  const keys = { accessKeyId: 'key', secretAccessKey: 'secret' };
  const storage = await placeFor(id, { endpoint, region: 'us-east-1', bucket: 'files', keys }, endpoint);
  await control(world, 'projects').updateOne({ _id: new ObjectId(id) }, { $set: { storage } });
  const breakIt = async () => {
    cuts = true;
    return () => {
      cuts = false;
    };
  };
  return { project: { ...project, storage }, breakIt };
};

/** What is found by the page: uploads, and what is old enough to go. */
export const pages: readonly DueWork[] = [
  {
    name: 'an upload that nobody confirmed',
    jobs: ['sweep-uploads'],
    hours: 25,
    inPages: true,
    add: async (world) => ({ ...(await abandoned(world, storageProject())), breakIt: unbreakable }),
    run: sweepUploads,
  },
  {
    name: 'an upload to a storage of the project’s own that nobody confirmed',
    jobs: ['sweep-uploads'],
    hours: 25,
    givenUp: { rounds: 10, end: 'nothing looks for it any more' },
    tries: 6,
    add: async (world) => {
      const { project, breakIt } = await ownStorage(await makeProject(), world);
      const { filePath, done } = await abandoned(world, project);
      const end = async () => ((await done()) === 1 ? 'nothing looks for it any more' : 'it waits');
      const delay = async () => {
        const [before] = await entriesOf(world, filePath);
        vi.spyOn(clock, 'now').mockReturnValue(Number(before?.due?.N));
        await sweepUploads();
        const [after] = await entriesOf(world, filePath);
        return (Number(after?.due?.N) - clock.now()) / 1000;
      };
      return { done, breakIt, end, delay };
    },
    run: sweepUploads,
  },
  {
    name: 'the log of an old mail',
    jobs: ['requeue-mail'],
    hours: 2,
    inPages: true,
    add: async (world) => {
      const createdAt = new Date(clock.now() - 90 * 24 * 3600_000);
      const { insertedId } = await control(world, 'mailLogs').insertOne({ createdAt, status: 'sent' });
      return { done: () => isGone(world, 'mailLogs', insertedId.toHexString()), breakIt: unbreakable };
    },
    run: requeueMail,
  },
  {
    name: 'an import that is kept no longer',
    jobs: ['maintain-transfers'],
    hours: 2,
    inPages: true,
    add: async (world) => {
      const { id } = await makeProject(['notes']);
      const held = await heldImport(id, 'notes', '{}');
      const now = new Date(clock.now());
      const ended = { $set: { state: 'done', expiresAt: now, fileEndsAt: now }, $unset: { active: '' } };
      await control(world, 'transfers').updateOne({ _id: held._id }, ended);
      const files = async () => (await world.at.objects(transferKey(held))).size;
      return {
        done: async () => ((await isGone(world, 'transfers', idOf(held))) === 0 ? 0 : 1 + (await files())),
        breakIt: unbreakable,
      };
    },
    run: maintainTransfers,
  },
];
