import { randomUUID } from 'node:crypto';
import type { Visibility } from '../../../shared/files/file-items.ts';
import { parametersIn, visibilityHeader } from '../../../shared/files/images/variant.ts';
import { type FileRoute, routeFileRequest } from '../../../shared/files/images/variant-url.ts';

/** The function that makes sizes of pictures, which answers nobody but `caller`. */
export interface SizesFunction {
  readonly url: string;
  readonly caller: string;
}

/** What it answered. */
interface SizeMade {
  readonly status: number;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** What CloudFront does for sizes: leads an address to where one is kept, and has it made where it is not there. */
export interface LeadToSize {
  lead(path: string, query: string): FileRoute;
  make(path: string, readers: Visibility): Promise<SizeMade>;
}

const ask = async ({ url, caller }: SizesFunction, path: string, readers: Visibility): Promise<SizeMade> => {
  const answer = await fetch(`${url}${path}`, { headers: { authorization: caller, [visibilityHeader]: readers } });
  const retryAfter = answer.headers.get('retry-after');
  return {
    status: answer.status,
    contentType: answer.headers.get('content-type') ?? 'application/json',
    headers: retryAfter === null ? {} : { 'retry-after': retryAfter },
    body: Buffer.from(await answer.arrayBuffer()),
  };
};

/** Has sizes made by a function, one that is asked for several times at once once, as CloudFront does. */
export const sizesBy = (place: SizesFunction): LeadToSize => {
  const making = new Map<string, Promise<SizeMade>>();
  return {
    lead: (path, query) => routeFileRequest(path, parametersIn(query), randomUUID()),
    make: (path, readers) => {
      const made = making.get(path) ?? ask(place, path, readers).finally(() => making.delete(path));
      making.set(path, made);
      return made;
    },
  };
};
