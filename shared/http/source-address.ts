import { timingSafeEqual } from 'node:crypto';
import { rateLimits } from '../core/config.ts';
import type { Event } from './middleware/middleware-types.ts';

const isSecret = (text = '', secret: string): boolean => {
  const [given, wanted] = [Buffer.from(text), Buffer.from(secret)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
};

/**
 * The address that a request came from: as the gateway sees it, or, through the console, as CloudFront saw it, which
 * shows by a secret header that it is CloudFront. What anybody else says in a header is not read
 * (contract 8, "Viewers").
 */
export const sourceAddress = ({ headers, requestContext: { http } }: Event): string => {
  const { VIEWER_SECRET } = rateLimits();
  if (VIEWER_SECRET === '' || !isSecret(headers['x-viewer-secret'], VIEWER_SECRET)) return http.sourceIp;
  return headers['x-viewer-address'] || http.sourceIp;
};
