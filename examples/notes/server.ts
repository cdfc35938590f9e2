import { basalt } from '../../client/src/index.ts';

/** Where the project is, and its keys; the secret one never leaves this file. */
export interface Project {
  readonly url: string;
  readonly publishableKey: string;
  readonly secretKey: string;
}

const maxBytes = 5 * 1024 * 1024;

/** What the page may not do with its publishable key: keeps a picture of whoever is signed in, and says its address. */
export const keepPicture = async (project: Project, request: Request): Promise<Response> => {
  const { url, publishableKey, secretKey } = project;
  const headers = { 'x-api-key': publishableKey, authorization: request.headers.get('authorization') ?? '' };
  const me = await fetch(`${url}/api/userAuth/me`, { headers });
  if (!me.ok) return new Response('Sign in first.', { status: 401 });
  const picture = await request.blob();
  if (!/^image\/[\w.+-]+$/.test(picture.type)) return new Response('This is no picture.', { status: 415 });
  if (picture.size > maxBytes) return new Response('Pictures may have 5 MB.', { status: 413 });
  const stored = await basalt(url, secretKey).files.upload(picture, { filename: picture.type.replace(/\W+/, '.') });
  return new Response(stored.url);
};
