import { randomUUID } from 'node:crypto';
import type { Visibility } from '../../../shared/files/file-items.ts';
import { parametersIn, visibilityHeader } from '../../../shared/files/images/variant.ts';
import { type FileRoute, routeFileRequest } from '../../../shared/files/images/variant-url.ts';

/** The function that creates image variants. It only accepts requests of `caller`. */
export interface VariantFunction {
  readonly url: string;
  readonly caller: string;
}

interface CreatedVariant {
  readonly status: number;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** CloudFront's part in image variants. */
export interface ImageVariants {
  /** Rewrites an address with size parameters to the path where the variant is stored. */
  resolve(path: string, query: string): FileRoute;
  /** Calls the function for a variant that is not stored yet. */
  create(path: string, readers: Visibility): Promise<CreatedVariant>;
}

const invoke = async ({ url, caller }: VariantFunction, path: string, readers: Visibility): Promise<CreatedVariant> => {
  const response = await fetch(`${url}${path}`, { headers: { authorization: caller, [visibilityHeader]: readers } });
  const retryAfter = response.headers.get('retry-after');
  return {
    status: response.status,
    contentType: response.headers.get('content-type') ?? 'application/json',
    headers: retryAfter === null ? {} : { 'retry-after': retryAfter },
    body: Buffer.from(await response.arrayBuffer()),
  };
};

/** Concurrent requests for the same variant share one call of the function, as with CloudFront. */
export const imageVariantsBy = (variantFunction: VariantFunction): ImageVariants => {
  const running = new Map<string, Promise<CreatedVariant>>();
  return {
    resolve: (path, query) => routeFileRequest(path, parametersIn(query), randomUUID()),
    create: (path, readers) => {
      const call = running.get(path) ?? invoke(variantFunction, path, readers).finally(() => running.delete(path));
      running.set(path, call);
      return call;
    },
  };
};
