import { ResponseHeadersPolicy } from 'aws-cdk-lib/aws-cloudfront';
import type { Construct } from 'constructs';
import { fileHeaders } from '../../shared/files/file-headers.ts';

const { 'content-security-policy': contentSecurityPolicy, 'x-content-type-options': _nosniff, ...others } = fileHeaders;

/** CloudFront configures CORS headers separately from other headers. */
const isCors = (name: string): boolean => name.startsWith('access-control-');

/** The headers of files as CloudFront's configuration. They override the bucket's. */
export const fileHeadersPolicy = (scope: Construct, id: string, cacheControl: string): ResponseHeadersPolicy => {
  const custom = Object.entries(others).filter(([name]) => !isCors(name));
  return new ResponseHeadersPolicy(scope, id, {
    securityHeadersBehavior: {
      contentTypeOptions: { override: true },
      contentSecurityPolicy: { contentSecurityPolicy, override: true },
    },
    customHeadersBehavior: {
      customHeaders: [...custom, ['cache-control', cacheControl] as const].map(([header, value]) => ({
        header,
        value,
        // Errors have their own `no-store`; objects in the bucket have no cache headers.
        override: header !== 'cache-control',
      })),
    },
    corsBehavior: {
      accessControlAllowCredentials: false,
      accessControlAllowHeaders: ['range', 'if-none-match', 'if-modified-since'],
      accessControlAllowMethods: ['GET', 'HEAD'],
      accessControlAllowOrigins: [fileHeaders['access-control-allow-origin']],
      accessControlExposeHeaders: fileHeaders['access-control-expose-headers'].split(', '),
      originOverride: true,
    },
  });
};
