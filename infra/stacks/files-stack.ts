import {
  AllowedMethods,
  CachePolicy,
  CacheQueryStringBehavior,
  Distribution,
  FunctionEventType,
  FunctionUrlOriginAccessControl,
  HttpVersion,
  type IOrigin,
  KeyGroup,
  PublicKey,
  S3OriginAccessControl,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { FunctionUrlOrigin, OriginGroup, S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { FunctionUrlAuthType } from 'aws-cdk-lib/aws-lambda';
import { Bucket, type CfnBucket, HttpMethods, type IBucket } from 'aws-cdk-lib/aws-s3';
import { CfnOutput, Duration, Fn, RemovalPolicy, Stack, type StackProps, Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { uploadCors } from '../../shared/files/connect-storage.ts';
import { dispositionFunction, fileCacheControl, linkCacheControl } from '../../shared/files/file-headers.ts';
import type { Visibility } from '../../shared/files/file-items.ts';
import { visibilityHeader } from '../../shared/files/images/variant.ts';
import type { DeploymentSettings } from '../settings/settings.ts';
import { acknowledge, edgeFunction } from './distribution.ts';
import type { Domain } from './domain-record.ts';
import { addressAt, withDomain } from './edge-domain.ts';
import type { EndpointFunction } from './endpoint-function.ts';
import { fileHeadersPolicy } from './file-headers-policy.ts';
import { firstLinkKey } from './first-link-key.ts';
import type { FunctionDefaults } from './function-defaults.ts';
import { jobFunction } from './job-function.ts';
import { letIn, privateBucket } from './private-bucket.ts';
import { sizeRequestFunction } from './size-requests.ts';
import { answerFolder, fileFolders, type Stores, transferFolders } from './statements.ts';

interface FilesStackProps extends StackProps {
  /** With or without a distribution, or with one that was added later. */
  readonly cloudFront: DeploymentSettings['cloudFront'];
  readonly domain: Domain | undefined;
  /** The stores that make-size needs, in addition to the files. */
  readonly stores: Omit<Stores, 'files'>;
  readonly defaults: FunctionDefaults;
  /** Defaults of all functions. */
  readonly environment: Readonly<Record<string, string>>;
}

/** The folder of private files, in the bucket and in addresses. */
const linkFolder = 'private';

const servedFolders = ['files', linkFolder] as const;

/** CloudFront's cache time; a deleted file disappears after it. */
const edgeTime = Duration.minutes(5);

/** The id of the key that signs links without CloudFront. The key is derived from the master key. */
const ownLinkKey = 'without-cloudfront';

/** The address of files, and the key that signs links. */
type Origin = Pick<Stores['files'], 'url' | 'keyGroup' | 'linkKey'>;

type FunctionProps = Pick<FilesStackProps, 'stores' | 'defaults' | 'environment'>;

/**
 * The bucket and the CloudFront distribution of files: public ones below `files/`, and private ones below `private/`,
 * which need a signed link (contract 4, "Public files", "Signed links"). Both outlive the stack. Without CloudFront, a
 * function redirects readers to the bucket; it keeps working if CloudFront is added later, because its address is
 * already in use.
 */
export class FilesStack extends Stack {
  readonly files: Stores['files'];
  readonly distribution: Distribution | undefined;
  /** Name → function, for jobs that file requests start. */
  readonly functions = new Map<string, EndpointFunction>();

  constructor(scope: Construct, id: string, filesProps: FilesStackProps) {
    const { cloudFront, domain, stores, defaults, environment, ...props } = filesProps;
    super(scope, id, { ...props, terminationProtection: true });
    const given = { stores, defaults, environment };
    const bucket = new Bucket(this, 'Files', {
      ...privateBucket,
      cors: [
        {
          allowedOrigins: [...uploadCors.origins],
          allowedMethods: uploadCors.methods.map((method) => HttpMethods[method]),
          allowedHeaders: [...uploadCors.requestHeaders],
          exposedHeaders: [...uploadCors.exposedHeaders],
          maxAge: uploadCors.maxAgeSeconds,
        },
      ],
      lifecycleRules: [
        { id: 'abandoned-uploads', prefix: 'pending/', expiration: Duration.days(2) },
        ...transferFolders.map((folder) => ({
          id: `old-${folder}`,
          prefix: `${folder}/`,
          expiration: Duration.days(3),
        })),
        { id: 'old-answers', prefix: `${answerFolder}/`, expiration: Duration.days(2) },
        { id: 'unfinished-parts', abortIncompleteMultipartUploadAfter: Duration.days(1) },
      ],
    });
    const edge = cloudFront === 'off' ? undefined : this.#edge(bucket, given, domain);
    const direct = cloudFront === 'on' ? undefined : this.#direct(bucket, given);
    const origin = edge?.origin ?? direct;
    if (!origin) throw new Error('Files have no origin');
    this.distribution = edge?.distribution;
    const { bucketArn, bucketName } = bucket;
    this.exportValue(bucketName);
    this.files = { bucketArn, bucketName, keyPrefix: this.stackName, ...origin };
    new CfnOutput(this, 'FilesUrl', { value: origin.url });
    if (this.distribution) new CfnOutput(this, 'DistributionId', { value: this.distribution.distributionId });
    Validations.of(bucket).acknowledge({
      id: 'AwsSolutions-S1',
      reason:
        'Uploads and deletions are recorded by the functions that permit them; reads are not, for the sake of those who read.',
    });
    this.#acknowledgeFolders(bucket);
    for (const made of this.functions.values()) this.#acknowledgeFunction(made, bucket);
  }

  /** Creates the distribution and the function for image variants. */
  #edge(bucket: Bucket, given: FunctionProps, domain: Domain | undefined) {
    const keys = this.#keyGroup();
    const keyGroup = keys.keyGroupId;
    const sizes = this.#function('make-size', bucket, given, { keyGroup });
    const distribution = this.#distribution(bucket, keys, sizes, domain);
    letIn(distribution, bucket, ...servedFolders);
    // Other stacks may still import these outputs until they are updated.
    for (const value of [distribution.distributionDomainName, keyGroup]) this.exportValue(value);
    acknowledge(distribution, domain !== undefined, {
      CFR1: 'Files of the projects may be read from any country.',
      CFR2: 'Only files that are public, or signed by a link, are behind it, by GET and HEAD.',
      CFR3: 'Who reads public files is not recorded, for the sake of those who read.',
    });
    const origin: Origin = { url: addressAt(this, distribution, domain), keyGroup };
    return { distribution, origin };
  }

  /** The function that redirects readers to the bucket. Anyone may call it; it verifies the signature of links. */
  #direct(bucket: Bucket, given: FunctionProps): Origin {
    const environment = { ...given.environment, LINK_KEY_ID: ownLinkKey };
    const { lambda } = this.#function('serve-file', bucket, { ...given, environment }, { keyGroup: undefined });
    const { url } = lambda.addFunctionUrl({ authType: FunctionUrlAuthType.NONE });
    this.exportValue(url);
    // The function URL ends with a slash.
    const host = Fn.select(2, Fn.split('/', url));
    return { url: `https://${host}`, keyGroup: undefined, linkKey: ownLinkKey };
  }

  /** The key group for signed links. A job replaces the first key, whose private half does not exist. */
  #keyGroup(): KeyGroup {
    const first = new PublicKey(this, 'FirstLinkKey', {
      comment: 'Opens nothing: its private half was never kept',
      encodedKey: firstLinkKey,
    });
    return new KeyGroup(this, 'LinkKeys', { comment: 'Opens links to private files', items: [first] });
  }

  /** In this stack, because the distribution needs them. */
  #function(
    name: 'make-size' | 'serve-file',
    { bucketArn, bucketName }: Bucket,
    { stores, defaults, environment }: FunctionProps,
    { keyGroup }: Pick<Origin, 'keyGroup'>,
  ): EndpointFunction {
    // It returns no file addresses, and its own address would be a circular reference.
    const url = 'https://files.invalid';
    const files = { bucketArn, bucketName, url, keyGroup, keyPrefix: this.stackName };
    const made = jobFunction(this, name, { stores: { ...stores, files }, defaults, environment });
    this.functions.set(name, made);
    return made;
  }

  #distribution(bucket: Bucket, keys: KeyGroup, sizes: EndpointFunction, domain: Domain | undefined): Distribution {
    const { originAccessControlId } = new S3OriginAccessControl(this, 'FilesAccess');
    const cachePolicy = new CachePolicy(this, 'FilesCache', {
      minTtl: Duration.seconds(0),
      defaultTtl: edgeTime,
      maxTtl: edgeTime,
      queryStringBehavior: CacheQueryStringBehavior.none(),
    });
    const handsOut = 'Hands out as a download what a browser could run';
    const disposition = edgeFunction(this, 'Disposition', handsOut, dispositionFunction);
    const leads = 'Routes requests for image sizes to the stored sizes';
    const sizeRequests = edgeFunction(this, 'SizeRequests', leads, sizeRequestFunction());
    const sizesUrl = sizes.lambda.addFunctionUrl({ authType: FunctionUrlAuthType.AWS_IAM });
    const originAccessControl = new FunctionUrlOriginAccessControl(this, 'SizesAccess');
    // A missing image variant is created; for other paths, the function returns 404.
    const orMade = (primaryOrigin: IOrigin, readers: Visibility) =>
      new OriginGroup({
        primaryOrigin,
        fallbackOrigin: FunctionUrlOrigin.withOriginAccessControl(sizesUrl, {
          originAccessControl,
          customHeaders: { [visibilityHeader]: readers },
        }),
        fallbackStatusCodes: [403, 404],
      });
    const shared = {
      viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
      compress: false,
      cachePolicy,
      functionAssociations: [
        { eventType: FunctionEventType.VIEWER_REQUEST, function: sizeRequests },
        { eventType: FunctionEventType.VIEWER_RESPONSE, function: disposition },
      ],
    };
    const distribution = new Distribution(this, 'PublicFiles', {
      ...withDomain(this, domain),
      comment: 'The public files',
      httpVersion: HttpVersion.HTTP2_AND_3,
      // A missing file may be confirmed a moment later.
      errorResponses: [404, 403].map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
      defaultBehavior: {
        origin: orMade(
          S3BucketOrigin.withBucketDefaults(bucket as IBucket, { originPath: '/files', originAccessControlId }),
          'public',
        ),
        responseHeadersPolicy: fileHeadersPolicy(this, 'FileHeaders', fileCacheControl),
        ...shared,
      },
      // The path keeps its folder, so that private and public files never share a cache entry.
      additionalBehaviors: {
        [`/${linkFolder}/*`]: {
          origin: orMade(S3BucketOrigin.withBucketDefaults(bucket as IBucket, { originAccessControlId }), 'private'),
          responseHeadersPolicy: fileHeadersPolicy(this, 'LinkHeaders', linkCacheControl),
          trustedKeyGroups: [keys],
          ...shared,
        },
      },
    });
    distribution.applyRemovalPolicy(RemovalPolicy.RETAIN);
    return distribution;
  }

  /** Acknowledges wildcards in grants on folders of this bucket, and no others. */
  #acknowledgeFolders({ bucketArn }: Bucket): void {
    const { 'Fn::ImportValue': arn } = this.resolve(this.exportValue(bucketArn)) as {
      readonly 'Fn::ImportValue': string;
    };
    for (const folder of [...fileFolders, ...transferFolders, answerFolder]) {
      Validations.of(this.node.root).acknowledge({
        id: `AwsSolutions-IAM5[Resource::${arn}/${folder}/*]`,
        reason: 'The names of the files of a folder are known to the functions only.',
      });
    }
  }

  /** Functions of this stack refer to the bucket directly. */
  #acknowledgeFunction(made: EndpointFunction, bucket: Bucket): void {
    const id = this.getLogicalId(bucket.node.defaultChild as CfnBucket);
    for (const folder of fileFolders) {
      Validations.of(made).acknowledge({
        id: `AwsSolutions-IAM5[Resource::<${id}.Arn>/${folder}/*]`,
        reason: 'The names of the files of a folder are known to the function only.',
      });
    }
  }
}
