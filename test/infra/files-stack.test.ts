import { describe, expect, test } from 'vitest';
import { firstLinkKey } from '../../infra/stacks/first-link-key.ts';
import { sizeRequestFunction } from '../../infra/stacks/size-requests.ts';
import { dispositionFunction } from '../../shared/files/file-headers.ts';
import { everything, type Json, ofType, type Resource, synthesise } from './synthesis.ts';

const { filesDomain, filesCertificateArn } = everything;
const domain = { filesDomain, filesCertificateArn };

const withDomain = synthesise(everything).stacks.get('Staging-Files') ?? new Map<string, Resource>();

const plain = synthesise();
const files = plain.stacks.get('Basalt-Files') ?? new Map<string, Resource>();

const only = (type: string, resources = files): Resource => {
  const [resource, another] = [...ofType(resources, type).values()];
  if (!resource || another) throw new Error(`There should be one ${type}`);
  return resource;
};

const distributionOf = (resources = files) =>
  only('AWS::CloudFront::Distribution', resources).Properties.DistributionConfig as Record<string, Json>;

describe('file bucket', () => {
  const bucket = only('AWS::S3::Bucket');

  test('is private, encrypted, without ACLs, and outlives its stack', () => {
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
        BucketEncryption: {
          ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
        },
      },
    });
  });

  test('accepts uploads from pages of any origin', () => {
    expect(bucket.Properties.CorsConfiguration).toEqual({
      CorsRules: [
        {
          AllowedOrigins: ['*'],
          AllowedMethods: ['PUT', 'GET', 'HEAD'],
          AllowedHeaders: ['content-type', 'content-length'],
          ExposedHeaders: ['etag'],
          MaxAge: 3600,
        },
      ],
    });
  });

  test('deletes unconfirmed uploads after two days, and incomplete ones after one', () => {
    const { Rules } = bucket.Properties.LifecycleConfiguration as { readonly Rules: Json };
    expect(Rules).toEqual(
      expect.arrayContaining([
        { Id: 'abandoned-uploads', Prefix: 'pending/', ExpirationInDays: 2, Status: 'Enabled' },
        { Id: 'unfinished-parts', AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 }, Status: 'Enabled' },
      ]),
    );
    expect(JSON.stringify(Rules)).not.toContain('"Prefix":"files/"');
  });

  const { Statement } = only('AWS::S3::BucketPolicy').Properties.PolicyDocument as unknown as {
    readonly Statement: readonly Record<string, unknown>[];
  };

  test('rejects requests when they do not use TLS 1.2', () => {
    const denials = Statement.filter(({ Effect }) => Effect === 'Deny').map(({ Condition }) => Condition);
    expect(denials).toEqual([
      { Bool: { 'aws:SecureTransport': 'false' } },
      { NumericLessThan: { 's3:TlsVersion': 1.2 } },
    ]);
  });

  test('allows only this distribution to read confirmed files', () => {
    const allowed = Statement.filter(({ Effect }) => Effect === 'Allow');
    const [bucketId] = [...ofType(files, 'AWS::S3::Bucket').keys()];
    const [distributionId] = [...ofType(files, 'AWS::CloudFront::Distribution').keys()];
    const BucketArn = { 'Fn::GetAtt': [bucketId, 'Arn'] };
    expect(allowed.map(({ Action, Resource }) => ({ Action, Resource }))).toEqual([
      {
        Action: 's3:GetObject',
        Resource: ['/files/*', '/private/*'].map((folder) => ({ 'Fn::Join': ['', [BucketArn, folder]] })),
      },
      { Action: 's3:ListBucket', Resource: BucketArn },
    ]);
    for (const { Principal, Condition } of allowed) {
      expect(Principal).toEqual({ Service: 'cloudfront.amazonaws.com' });
      expect(JSON.stringify(Condition)).toContain(`":distribution/",{"Ref":"${distributionId}"}`);
    }
  });
});

describe('file distribution', () => {
  test('serves private/ only when a key of the group signed the link', () => {
    const [behaviour, ...others] = distributionOf().CacheBehaviors as readonly Record<string, Json>[];
    expect(others).toEqual([]);
    const [groupId] = [...ofType(files, 'AWS::CloudFront::KeyGroup').keys()];
    const [, , atRoot] = distributionOf().Origins as readonly Record<string, Json>[];
    const [, group] = (distributionOf().OriginGroups as { readonly Items: readonly Record<string, Json>[] }).Items;
    expect(group?.Members).toMatchObject({ Items: [{ OriginId: atRoot?.Id }, {}] });
    expect(behaviour).toMatchObject({
      PathPattern: '/private/*',
      TargetOriginId: group?.Id ?? '',
      TrustedKeyGroups: [{ Ref: groupId }],
      ViewerProtocolPolicy: 'redirect-to-https',
      AllowedMethods: ['GET', 'HEAD'],
    });
    expect(distributionOf().DefaultCacheBehavior).not.toHaveProperty('TrustedKeyGroups');
    expect(only('AWS::CloudFront::PublicKey').Properties.PublicKeyConfig).toMatchObject({ EncodedKey: firstLinkKey });
  });

  test('has separate cache entries for links and public addresses', () => {
    const origins = distributionOf().Origins as readonly Record<string, Json>[];
    expect(origins.map(({ OriginPath = '' }) => OriginPath)).toEqual(['/files', '', '', '']);
  });

  test('reads only files/ when there is no link', () => {
    const [accessId] = [...ofType(files, 'AWS::CloudFront::OriginAccessControl').keys()];
    expect(distributionOf().Origins).toMatchObject([
      {
        OriginPath: '/files',
        OriginAccessControlId: { 'Fn::GetAtt': [accessId, 'Id'] },
        S3OriginConfig: { OriginAccessIdentity: '' },
      },
      {},
      { OriginAccessControlId: { 'Fn::GetAtt': [accessId, 'Id'] }, S3OriginConfig: { OriginAccessIdentity: '' } },
      {},
    ]);
    expect(
      ofType(files, 'AWS::CloudFront::OriginAccessControl').get(accessId ?? '')?.Properties.OriginAccessControlConfig,
    ).toMatchObject({
      SigningBehavior: 'always',
      SigningProtocol: 'sigv4',
    });
  });

  test('accepts GET and HEAD over TLS, and applies the download rule to every response', () => {
    const [functionId = '', sizesId = ''] = [...ofType(files, 'AWS::CloudFront::Function').keys()];
    expect(distributionOf().DefaultCacheBehavior).toMatchObject({
      ViewerProtocolPolicy: 'redirect-to-https',
      AllowedMethods: ['GET', 'HEAD'],
      FunctionAssociations: [
        { EventType: 'viewer-request', FunctionARN: { 'Fn::GetAtt': [sizesId, 'FunctionARN'] } },
        { EventType: 'viewer-response', FunctionARN: { 'Fn::GetAtt': [functionId, 'FunctionARN'] } },
      ],
    });
    const edge = { FunctionConfig: { Runtime: 'cloudfront-js-2.0' }, AutoPublish: true };
    const functions = ofType(files, 'AWS::CloudFront::Function');
    expect(functions.get(functionId)?.Properties).toMatchObject({ FunctionCode: dispositionFunction, ...edge });
    expect(functions.get(sizesId)?.Properties).toMatchObject({ FunctionCode: sizeRequestFunction(), ...edge });
  });

  test('caches a file for five minutes and a 404 not at all', () => {
    expect(only('AWS::CloudFront::CachePolicy').Properties.CachePolicyConfig).toMatchObject({
      MinTTL: 0,
      DefaultTTL: 300,
      MaxTTL: 300,
      ParametersInCacheKeyAndForwardedToOrigin: {
        CookiesConfig: { CookieBehavior: 'none' },
        HeadersConfig: { HeaderBehavior: 'none' },
        QueryStringsConfig: { QueryStringBehavior: 'none' },
      },
    });
    expect(distributionOf().CustomErrorResponses).toEqual([
      { ErrorCode: 404, ErrorCachingMinTTL: 0 },
      { ErrorCode: 403, ErrorCachingMinTTL: 0 },
    ]);
  });

  test('adds security headers that override those of the bucket', () => {
    const [policy = only('AWS::CloudFront::ResponseHeadersPolicy')] = ofType(
      files,
      'AWS::CloudFront::ResponseHeadersPolicy',
    ).values();
    const { SecurityHeadersConfig, CustomHeadersConfig, CorsConfig } = policy.Properties
      .ResponseHeadersPolicyConfig as Record<string, Record<string, Json>>;
    expect(SecurityHeadersConfig).toEqual({
      ContentTypeOptions: { Override: true },
      ContentSecurityPolicy: {
        ContentSecurityPolicy:
          "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox",
        Override: true,
      },
    });
    expect(CustomHeadersConfig?.Items).toEqual([
      { Header: 'cross-origin-resource-policy', Value: 'cross-origin', Override: true },
      { Header: 'cache-control', Value: 'public, max-age=86400, immutable', Override: false },
    ]);
    expect(CorsConfig).toMatchObject({
      AccessControlAllowOrigins: { Items: ['*'] },
      AccessControlExposeHeaders: { Items: ['accept-ranges', 'content-length', 'content-range', 'etag'] },
      AccessControlAllowCredentials: false,
      OriginOverride: true,
    });
  });

  test('creates a missing image variant by a function that only it may call', () => {
    const { Items: groups } = distributionOf().OriginGroups as { readonly Items: readonly Record<string, Json>[] };
    const [, ofPublic, , ofPrivate] = distributionOf().Origins as readonly Record<string, Json>[];
    for (const [at, made] of [ofPublic, ofPrivate].entries()) {
      expect(groups[at]?.FailoverCriteria).toMatchObject({ StatusCodes: { Items: [403, 404] } });
      expect(groups[at]?.Members).toMatchObject({ Items: [{}, { OriginId: made?.Id }] });
      // In any spelling of a path, readers without a link reach nothing private.
      const readers = { HeaderName: 'x-visibility', HeaderValue: at === 0 ? 'public' : 'private' };
      expect(made).toMatchObject({ OriginCustomHeaders: [readers] });
    }
    expect(only('AWS::Lambda::Url').Properties).toMatchObject({ AuthType: 'AWS_IAM' });
    const [distributionId] = [...ofType(files, 'AWS::CloudFront::Distribution').keys()];
    for (const { Properties } of ofType(files, 'AWS::Lambda::Permission').values()) {
      expect(Properties).toMatchObject({ Principal: 'cloudfront.amazonaws.com' });
      expect(JSON.stringify(Properties.SourceArn)).toContain(`":distribution/",{"Ref":"${distributionId}"}`);
    }
  });

  test('has the domain with TLS 1.2 when one is configured', () => {
    expect(distributionOf(withDomain)).toMatchObject({
      Aliases: ['files.example.com'],
      ViewerCertificate: { AcmCertificateArn: filesCertificateArn, MinimumProtocolVersion: 'TLSv1.2_2021' },
    });
    expect(distributionOf()).not.toHaveProperty('Aliases');
  });

  test.each(Object.entries(domain))('is rejected when only %s is set', (name, value) => {
    expect(() => synthesise({ [name]: value })).toThrow('filesDomain and filesCertificateArn');
  });
});

test('files stack has no other resources, and outputs its addresses', () => {
  expect([...files.values()].map(({ Type }) => Type).sort()).toEqual([
    'AWS::CloudFront::CachePolicy',
    'AWS::CloudFront::Distribution',
    'AWS::CloudFront::Function',
    'AWS::CloudFront::Function',
    'AWS::CloudFront::KeyGroup',
    'AWS::CloudFront::OriginAccessControl',
    'AWS::CloudFront::OriginAccessControl',
    'AWS::CloudFront::PublicKey',
    'AWS::CloudFront::ResponseHeadersPolicy',
    'AWS::CloudFront::ResponseHeadersPolicy',
    'AWS::IAM::Role',
    'AWS::Lambda::Function',
    'AWS::Lambda::Permission',
    'AWS::Lambda::Permission',
    'AWS::Lambda::Permission',
    'AWS::Lambda::Permission',
    'AWS::Lambda::Url',
    'AWS::Logs::LogGroup',
    'AWS::S3::Bucket',
    'AWS::S3::BucketPolicy',
  ]);
  expect(plain.outputs.get('Basalt-Files')).toEqual(['FilesUrl', 'DistributionId']);
});
