import { ResponseHeadersPolicy } from 'aws-cdk-lib/aws-cloudfront';
import type { Construct } from 'constructs';
import { fileHeaders } from '../../shared/files/file-headers.ts';

const { 'content-security-policy': contentSecurityPolicy, 'x-content-type-options': _nosniff, ...others } = fileHeaders;

/** Names of the CORS headers, which CloudFront sets apart from the others. */
const isCors = (name: string): boolean => name.startsWith('access-control-');

/** The headers of files as CloudFront takes them; they come over whatever the bucket says. */
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
        // What is not there, or cannot be made, says itself that it is not to be kept; nothing in the bucket says any
        // such.
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
