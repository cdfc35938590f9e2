import { handler as confirmUpload } from '../../../../functions/storage/confirm-upload.ts';
import { handler as deleteFile } from '../../../../functions/storage/delete-file.ts';
import { handler as requestUpload } from '../../../../functions/storage/request-upload.ts';
import { deleteFiles } from '../../../../shared/files/delete-files.ts';
import { invoke } from '../../clients/invoke.ts';
import { put, type Requested, read } from '../files.ts';
import { makeProject, type Operation, type OwnProject, requireEqual, requireStatus, statusFor } from './operation.ts';

const content = 'hello';
const size = content.length;

const request = async ({ secretKey: key }: OwnProject): Promise<{ readonly status: number } & Requested> => {
  const body = { filename: 'a.txt', contentType: 'text/plain', size };
  const answer = await invoke(requestUpload, { key, body });
  return { status: answer.status, ...(answer.body as unknown as Requested) };
};

const uploaded = async (project: OwnProject): Promise<string> => {
  const { signedUrl, filePath } = await request(project);
  requireStatus('the storage', await put(signedUrl, content), 200);
  return filePath;
};

const confirm = async ({ secretKey: key }: OwnProject, filePath: string): Promise<number> =>
  (await invoke(confirmUpload, { key, body: { filePath, size } })).status;

/** A file, all three steps of its upload done. */
export const confirmed = async (project: OwnProject): Promise<string> => {
  const filePath = await uploaded(project);
  requireStatus('confirm', await confirm(project, filePath), 200);
  return filePath;
};

const publicText = async (filePath: string): Promise<string> =>
  (await read(`${process.env.FILES_URL ?? ''}/${filePath}`)).text;

export const fileOperations: readonly Operation[] = [
  {
    name: 'request of an upload',
    prepare: async () => {
      const project = await makeProject();
      let last: Requested | undefined;
      const act = async (): Promise<number> => {
        const { status, ...requested } = await request(project);
        if (status === 200) last = requested;
        return status;
      };
      return {
        projectIds: [project.id],
        act,
        again: async () => {
          requireStatus('a second request', await act(), 200);
          requireStatus('the storage', await put(last?.signedUrl ?? '', content), 200);
          requireStatus('confirm', await confirm(project, last?.filePath ?? ''), 200);
          requireEqual('the file', await publicText(last?.filePath ?? ''), content);
        },
        verify: async () => undefined,
      };
    },
  },
  {
    name: 'confirmation of an upload',
    prepare: async () => {
      const project = await makeProject();
      const filePath = await uploaded(project);
      const act = (): Promise<number> => confirm(project, filePath);
      return {
        projectIds: [project.id],
        act,
        again: async () => requireStatus('a second confirmation', await act(), 200),
        verify: async (done) => requireEqual('the file', await publicText(filePath), content, ...(done ? [] : [''])),
      };
    },
  },
  {
    name: 'deletion of a file',
    prepare: async (world) => {
      const project = await makeProject();
      const filePath = await confirmed(project);
      // A day on, nothing looks at the place any more on account of its upload.
      await world.sweep();
      const act = async (): Promise<number> =>
        (await invoke(deleteFile, { key: project.secretKey, body: { path: filePath } })).status;
      return {
        projectIds: [project.id],
        act,
        again: async () => requireStatus('a second deletion', await act(), 200, 404),
        verify: async (done) => requireEqual('the file', await publicText(filePath), '', ...(done ? [] : [content])),
      };
    },
  },
  {
    name: 'deletion of two files',
    prepare: async () => {
      const project = await makeProject();
      const paths = [await confirmed(project), await confirmed(project)];
      const kept = await confirmed(project);
      const act = (): Promise<number> => statusFor(() => deleteFiles(project.project, paths));
      return {
        projectIds: [project.id],
        act,
        again: async () => requireStatus('a second deletion', await act(), 200),
        verify: async (done) => {
          for (const path of paths) {
            requireEqual('a file', await publicText(path), '', ...(done ? [] : [content]));
          }
          requireEqual('the other file', await publicText(kept), content);
        },
      };
    },
  },
];
