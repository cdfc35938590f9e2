import { describe, expect, test } from 'vitest';
import {
  consoleFileAt,
  consolePathFunction,
  consolePolicy,
  viewerAddressFunction,
} from '../../shared/http/console-headers.ts';
import { everything, type Json, ofType, type Resource, type Resources, routesOf, synthesise } from './synthesis.ts';

const plain = synthesise();
const chosen = synthesise(everything);
const pages = plain.stacks.get('Basalt-Console') ?? new Map<string, Resource>();

const only = (type: string, resources: Resources = pages): readonly [string, Resource] => {
  const [entry, another] = [...ofType(resources, type)];
  if (!entry || another) throw new Error(`There should be one ${type}`);
  return entry;
};

const distributionOf = (resources: Resources = pages) =>
  only('AWS::CloudFront::Distribution', resources)[1].Properties.DistributionConfig as Record<string, Json>;

/** The headers of a path: `/` or that of a behavior. */
const headersOf = (path: string, resources: Resources = pages): Resource => {
  const { DefaultCacheBehavior, CacheBehaviors } = distributionOf(resources);
  const behaviors = [{ ...(DefaultCacheBehavior as object), PathPattern: '/' }, ...(CacheBehaviors as object[])];
  const behavior = behaviors.find((each) => 'PathPattern' in each && each.PathPattern === path);
  const { ResponseHeadersPolicyId } = behavior as { readonly ResponseHeadersPolicyId: { readonly Ref: string } };
  return resources.get(ResponseHeadersPolicyId.Ref) as Resource;
};

const functionIdOf = (code: string): string =>
  [...ofType(pages, 'AWS::CloudFront::Function')].find(([, { Properties }]) => Properties.FunctionCode === code)?.[0] ??
  'none';

/** The request after a function of CloudFront. */
const edge = (code: string, request: unknown, viewer: unknown = {}): unknown =>
  new Function(`${code}\nreturn handler;`)()({ request, viewer });

describe('console pages', () => {
  const [bucketId, bucket] = only('AWS::S3::Bucket');

  test('are in a bucket that only this distribution can read', () => {
    expect(bucket).toMatchObject({
      DeletionPolicy: 'Retain',
      Properties: {
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
      },
    });
    const { Statement } = only('AWS::S3::BucketPolicy')[1].Properties.PolicyDocument as unknown as {
      readonly Statement: readonly Record<string, unknown>[];
    };
    const allowed = Statement.filter(({ Effect }) => Effect === 'Allow');
    const BucketArn = { 'Fn::GetAtt': [bucketId, 'Arn'] };
    expect(allowed.map(({ Action, Resource }) => ({ Action, Resource }))).toEqual([
      { Action: 's3:GetObject', Resource: { 'Fn::Join': ['', [BucketArn, '/site/*']] } },
      { Action: 's3:ListBucket', Resource: BucketArn },
    ]);
    const [distributionId] = only('AWS::CloudFront::Distribution');
    for (const { Principal, Condition } of allowed) {
      expect(Principal).toEqual({ Service: 'cloudfront.amazonaws.com' });
      expect(JSON.stringify(Condition)).toContain(`":distribution/",{"Ref":"${distributionId}"}`);
    }
    expect(distributionOf().Origins).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          OriginPath: '/site',
          OriginAccessControlId: { 'Fn::GetAtt': [only('AWS::CloudFront::OriginAccessControl')[0], 'Id'] },
        }),
      ]),
    );
  });

  test('are served for GET and HEAD over TLS, with the cache headers of each file', () => {
    expect(distributionOf().DefaultCacheBehavior).toMatchObject({
      ViewerProtocolPolicy: 'redirect-to-https',
      AllowedMethods: ['GET', 'HEAD'],
      Compress: true,
      FunctionAssociations: [
        {
          EventType: 'viewer-request',
          FunctionARN: { 'Fn::GetAtt': [functionIdOf(consolePathFunction), 'FunctionARN'] },
        },
      ],
    });
    expect(only('AWS::CloudFront::CachePolicy')[1].Properties.CachePolicyConfig).toMatchObject({
      MinTTL: 0,
      DefaultTTL: 0,
      ParametersInCacheKeyAndForwardedToOrigin: {
        CookiesConfig: { CookieBehavior: 'none' },
        HeadersConfig: { HeaderBehavior: 'none' },
        QueryStringsConfig: { QueryStringBehavior: 'none' },
      },
    });
  });

  test('have HSTS and a content policy with the addresses of the deployment', () => {
    const { Properties } = headersOf('/', chosen.stacks.get('Staging-Console'));
    const { SecurityHeadersConfig } = Properties.ResponseHeadersPolicyConfig as Record<string, Record<string, Json>>;
    expect(SecurityHeadersConfig).toMatchObject({
      ContentTypeOptions: { Override: true },
      ReferrerPolicy: { ReferrerPolicy: 'no-referrer', Override: true },
      StrictTransportSecurity: { AccessControlMaxAgeSec: 31_536_000, Override: true },
    });
    const given = JSON.stringify(SecurityHeadersConfig?.ContentSecurityPolicy);
    for (const part of [
      "default-src 'none'; script-src 'self'; style-src 'self'",
      "img-src 'self' data: blob: https://files.example.com; connect-src 'self' https://files.example.com https://",
      ' https://api.example.com; frame-src',
      "frame-ancestors 'none'; form-action 'self'; require-trusted-types-for 'script'",
    ]) {
      expect(given).toContain(part);
    }
    expect(given).toContain('".s3.",{"Ref":"AWS::Region"},".",{"Ref":"AWS::URLSuffix"}');
    expect(given).not.toMatch(/unsafe|nonce|sha256|\*/);
  });

  test('of the documents have a policy of their own, which allows no script but their files', () => {
    const { SecurityHeadersConfig } = headersOf('/docs').Properties.ResponseHeadersPolicyConfig as Record<
      string,
      Record<string, Json>
    >;
    expect(SecurityHeadersConfig).toMatchObject({
      ContentSecurityPolicy: {
        ContentSecurityPolicy: expect.stringMatching(/^default-src 'none'; script-src 'self'; /),
        Override: true,
      },
      StrictTransportSecurity: { AccessControlMaxAgeSec: 31_536_000, Override: true },
    });
    expect(headersOf('/docs/*')).toBe(headersOf('/docs'));
  });

  const browser = { accept: { value: 'text/html,application/xhtml+xml' } };
  test.each([
    ['/', browser, '/index.html'],
    ['/projects/1/documents/posts', browser, '/index.html'],
    ['/verify-email', browser, '/index.html'],
    ['/assets/main-ABCD1234.js', {}, '/assets/main-ABCD1234.js'],
    ['/assets/main-ABCD1234.js', browser, '/assets/main-ABCD1234.js'],
    ['/assets/deeper/main.js', browser, '/index.html'],
    ['/icon.svg', browser, '/icon.svg'],
    ['/console.json', { accept: { value: '*/*' } }, '/console.json'],
    ['/docs', browser, '/docs/index.html'],
    ['/docs/', browser, '/docs/index.html'],
    ['/docs/guides/', browser, '/docs/guides/index.html'],
    ['/docs/reference/errors', browser, '/docs/reference/errors.html'],
    ['/docs/reference/errors', {}, '/docs/reference/errors.html'],
    [
      '/docs/assets/chunks/@localSearchIndexroot.Cyq-QPXk.js',
      {},
      '/docs/assets/chunks/@localSearchIndexroot.Cyq-QPXk.js',
    ],
    ['/docsx', browser, '/index.html'],
  ])('%s for %j is the file %s, by CloudFront as by npm start', (uri, headers, file) => {
    expect(edge(consolePathFunction, { uri, headers })).toEqual({ uri: file, headers });
    expect(consoleFileAt(uri, 'accept' in headers ? headers.accept.value : '')).toBe(file);
  });

  test('are not returned when the request does not accept HTML', () => {
    expect(edge(consolePathFunction, { uri: '/nothing', headers: {} })).toEqual({ uri: '/nothing', headers: {} });
    expect(consoleFileAt('/nothing', '*/*')).toBeUndefined();
  });

  test('have a valid policy when files and uploads share an origin', () => {
    const one = 'http://127.0.0.1:4007';
    expect(consolePolicy({ files: [one], uploads: one, api: one })).toContain(`connect-src 'self' ${one};`);
  });
});

describe('dashboard API behind the console address', () => {
  const all = distributionOf().CacheBehaviors as unknown as readonly Record<string, Json>[];
  const behaviors = all.filter(({ PathPattern }) => String(PathPattern).startsWith('/api'));

  test('gets complete requests below /api, and CloudFront caches none', () => {
    expect(behaviors.map(({ PathPattern }) => PathPattern)).toEqual(['/api', '/api/*']);
    for (const behavior of behaviors) {
      expect(behavior).toMatchObject({
        ViewerProtocolPolicy: 'https-only',
        AllowedMethods: ['GET', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'POST', 'DELETE'],
        // The policies of AWS "CachingDisabled" and "AllViewerExceptHostHeader".
        CachePolicyId: '4135ea2d-6df8-44a3-9df3-4b5a84be39ad',
        OriginRequestPolicyId: 'b689b0a8-53d0-40ab-baf2-68738e2966ac',
      });
      expect(behavior).not.toHaveProperty('ResponseHeadersPolicyId');
    }
  });

  test('gets the address of the viewer, proven by a secret', () => {
    const FunctionARN = { 'Fn::GetAtt': [functionIdOf(viewerAddressFunction), 'FunctionARN'] };
    for (const { FunctionAssociations } of behaviors) {
      expect(FunctionAssociations).toEqual([{ EventType: 'viewer-request', FunctionARN }]);
    }
    const forged = { headers: { 'x-viewer-address': { value: '203.0.113.9' }, cookie: { value: 'a=b' } } };
    expect(edge(viewerAddressFunction, forged, { ip: '192.0.2.7' })).toEqual({
      headers: { 'x-viewer-address': { value: '192.0.2.7' }, cookie: { value: 'a=b' } },
    });
    const origin = JSON.stringify(distributionOf().Origins);
    expect(origin).toContain('"HeaderName":"x-viewer-secret"');
    expect(origin).toContain('{{resolve:secretsmanager:');
    expect(origin).toMatch(/"OriginProtocolPolicy":"https-only","OriginSSLProtocols":\["TLSv1.2"\]/);
  });

  test('returns its own errors, because CloudFront replaces none', () => {
    expect(distributionOf()).not.toHaveProperty('CustomErrorResponses');
  });

  const variablesOf = ({ stacks }: typeof plain, stack: string): Readonly<Record<string, Json>>[] =>
    routesOf(stacks.get(stack) ?? new Map()).map(
      ({ function: { Properties } }) =>
        (Properties.Environment as { readonly Variables: Readonly<Record<string, Json>> }).Variables,
    );

  test('accepts cookies from the console unless other pages are configured', () => {
    for (const { DASHBOARD_URL, DASHBOARD_ORIGINS, DASHBOARD_API_URL, VIEWER_SECRET } of variablesOf(
      plain,
      'Basalt-Routes-dashboard-auth',
    )) {
      expect(JSON.stringify(DASHBOARD_URL)).toContain('Basalt-Console:');
      expect([DASHBOARD_ORIGINS, DASHBOARD_API_URL]).toEqual([DASHBOARD_URL, DASHBOARD_URL]);
      expect(JSON.stringify(VIEWER_SECRET)).toContain('{{resolve:secretsmanager:');
    }
    for (const variables of variablesOf(chosen, 'Staging-Routes-dashboard-auth')) {
      expect(variables).toMatchObject({
        DASHBOARD_URL: 'https://app.example.com',
        DASHBOARD_ORIGINS: 'https://console.example.com,https://app.example.com,http://localhost:3000',
        DASHBOARD_API_URL: 'https://dashboard-api.example.com',
      });
    }
    for (const variables of variablesOf(plain, 'Basalt-Routes-data')) {
      expect(variables).not.toHaveProperty('VIEWER_SECRET');
    }
  });
});

test('console stack has the domain with TLS 1.2 when one is configured', () => {
  expect(distributionOf(chosen.stacks.get('Staging-Console'))).toMatchObject({
    Aliases: ['console.example.com'],
    ViewerCertificate: {
      AcmCertificateArn: everything.consoleCertificateArn,
      MinimumProtocolVersion: 'TLSv1.2_2021',
    },
  });
  expect(distributionOf()).not.toHaveProperty('Aliases');
  expect(chosen.outputs.get('Staging-Console')).toEqual([
    'DomainTarget',
    'Url',
    'Bucket',
    'DistributionId',
    'PublicApi',
  ]);
});

test('console stack has no other resources, and outputs its addresses', () => {
  expect([...pages.values()].map(({ Type }) => Type).sort()).toEqual([
    'AWS::CloudFront::CachePolicy',
    'AWS::CloudFront::Distribution',
    'AWS::CloudFront::Function',
    'AWS::CloudFront::Function',
    'AWS::CloudFront::OriginAccessControl',
    'AWS::CloudFront::ResponseHeadersPolicy',
    'AWS::CloudFront::ResponseHeadersPolicy',
    'AWS::S3::Bucket',
    'AWS::S3::BucketPolicy',
  ]);
  expect(plain.outputs.get('Basalt-Console')).toEqual(['Url', 'Bucket', 'DistributionId', 'PublicApi']);
});
