import { type HttpApi, HttpMethod, HttpRoute, HttpRouteKey } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import {
  AllowedMethods,
  type BehaviorOptions,
  CachePolicy,
  Distribution,
  FunctionEventType,
  HeadersReferrerPolicy,
  HttpVersion,
  OriginProtocolPolicy,
  OriginRequestPolicy,
  OriginSslPolicy,
  ResponseHeadersPolicy,
  S3OriginAccessControl,
  ViewerProtocolPolicy,
} from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin, S3BucketOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Bucket, type CfnBucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import { Aws, CfnOutput, Duration, Stack, Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import {
  type ConsolePlaces,
  consolePathFunction,
  consolePolicy,
  docsPath,
  docsPolicy,
  viewerAddressFunction,
} from '../../shared/http/console-headers.ts';
import { consoleFolder } from '../../shared/persistence/s3.ts';
import type { DeploymentSettings } from '../settings/settings.ts';
import { acknowledge, edgeFunction } from './distribution.ts';
import type { Domain } from './domain-record.ts';
import { addressAt, withDomain } from './edge-domain.ts';
import type { EndpointFunction } from './endpoint-function.ts';
import type { FunctionDefaults } from './function-defaults.ts';
import { jobFunction } from './job-function.ts';
import { letIn, privateBucket } from './private-bucket.ts';
import type { Stores } from './statements.ts';

interface ConsoleStackProps {
  /** The dashboard API. */
  readonly api: HttpApi;
  /** The secret with which CloudFront proves the viewer's address to the API. */
  readonly viewerSecret: string;
  readonly places: ConsolePlaces;
  readonly domain: Domain | undefined;
  readonly cloudFront: DeploymentSettings['cloudFront'];
  /** The address of the dashboard API; without CloudFront, also of the console. */
  readonly apiUrl: string;
  readonly stores: Stores;
  readonly defaults: FunctionDefaults;
  /** Defaults of all functions. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * The console: its pages in a private bucket, and the dashboard API below `/api`, at one address.
 */
export class ConsoleStack extends Stack {
  readonly url: string;
  readonly distribution: Distribution | undefined;
  /** Serves the pages without CloudFront; keeps working if CloudFront is added later. */
  readonly pages: EndpointFunction | undefined;

  constructor(scope: Construct, id: string, consoleProps: ConsoleStackProps) {
    const { places, domain, cloudFront, apiUrl } = consoleProps;
    super(scope, id);
    const bucket = new Bucket(this, 'Pages', privateBucket);
    if (cloudFront !== 'off') this.distribution = this.#distribution(bucket, consoleProps);
    if (cloudFront !== 'on') this.pages = this.#pages(bucket, consoleProps);
    this.url = this.distribution ? addressAt(this, this.distribution, domain) : apiUrl;
    new CfnOutput(this, 'Url', { value: this.url });
    new CfnOutput(this, 'Bucket', { value: bucket.bucketName });
    if (this.distribution) new CfnOutput(this, 'DistributionId', { value: this.distribution.distributionId });
    new CfnOutput(this, 'PublicApi', { value: places.api });
    Validations.of(bucket).acknowledge({
      id: 'AwsSolutions-S1',
      reason: 'It holds what the repository makes; deployments alone write it.',
    });
  }

  #distribution(bucket: Bucket, { api, viewerSecret, places, domain }: ConsoleStackProps): Distribution {
    const { originAccessControlId } = new S3OriginAccessControl(this, 'PagesAccess');
    const calls = this.#calls(api, viewerSecret);
    const site: BehaviorOptions = {
      origin: S3BucketOrigin.withBucketDefaults(bucket as IBucket, {
        originPath: `/${consoleFolder}`,
        originAccessControlId,
      }),
      viewerProtocolPolicy: ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
      allowedMethods: AllowedMethods.ALLOW_GET_HEAD,
      // The files have their own cache headers.
      cachePolicy: new CachePolicy(this, 'PagesCache', {
        minTtl: Duration.seconds(0),
        defaultTtl: Duration.seconds(0),
        enableAcceptEncodingGzip: true,
        enableAcceptEncodingBrotli: true,
      }),
      functionAssociations: this.#before('PageOfPath', 'Returns the page at its addresses', consolePathFunction),
    };
    const docs = { ...site, responseHeadersPolicy: this.#headers('DocsHeaders', docsPolicy) };
    const distribution = new Distribution(this, 'Console', {
      ...withDomain(this, domain),
      comment: 'The console and the dashboard API',
      httpVersion: HttpVersion.HTTP2_AND_3,
      defaultBehavior: { ...site, responseHeadersPolicy: this.#headers('PageHeaders', consolePolicy(places)) },
      // No error pages, because they would also replace the API's own errors.
      additionalBehaviors: {
        '/api': calls,
        '/api/*': calls,
        [docsPath]: docs,
        [`${docsPath}/*`]: docs,
      },
    });
    letIn(distribution, bucket, consoleFolder);
    this.exportValue(distribution.distributionDomainName);
    acknowledge(distribution, domain !== undefined, {
      CFR1: 'Developers may work from any country.',
      CFR2: 'The API counts the requests of each address itself, and its gateway those of all.',
      CFR3: 'The gateway records the calls; who reads pages that are the same for all is not recorded.',
    });
    return distribution;
  }

  /** Adds the pages to the dashboard API's address; its own routes are all below `/api`. */
  #pages(bucket: Bucket, { api, places, stores, defaults, environment }: ConsoleStackProps): EndpointFunction {
    const pages = jobFunction(this, 'serve-page', {
      stores,
      defaults,
      environment: { ...environment, CONSOLE_BUCKET: bucket.bucketName, CONSOLE_POLICY: consolePolicy(places) },
      statements: [
        new PolicyStatement({ actions: ['s3:GetObject'], resources: [bucket.arnForObjects(`${consoleFolder}/*`)] }),
        // Without it, S3 returns 403 instead of 404 for missing objects.
        new PolicyStatement({ actions: ['s3:ListBucket'], resources: [bucket.bucketArn] }),
      ],
    });
    const integration = new HttpLambdaIntegration('PagesIntegration', pages.lambda);
    for (const [id, path] of [
      ['FirstPage', '/'],
      ['OtherPages', '/{proxy+}'],
    ] as const) {
      new HttpRoute(this, id, { httpApi: api, routeKey: HttpRouteKey.with(path, HttpMethod.GET), integration });
    }
    Validations.of(this).acknowledge({ id: 'AwsSolutions-APIG4', reason: 'The pages are the same for everyone.' });
    const bucketId = this.getLogicalId(bucket.node.defaultChild as CfnBucket);
    Validations.of(pages).acknowledge({
      id: `AwsSolutions-IAM5[Resource::<${bucketId}.Arn>/${consoleFolder}/*]`,
      reason: 'The names of the files are known to the build of the console only.',
    });
    return pages;
  }

  /** Forwards everything except the host name, which API Gateway would not recognize. */
  #calls(api: HttpApi, viewerSecret: string): BehaviorOptions {
    return {
      origin: new HttpOrigin(`${api.apiId}.execute-api.${Aws.REGION}.${Aws.URL_SUFFIX}`, {
        protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
        originSslProtocols: [OriginSslPolicy.TLS_V1_2],
        customHeaders: { 'x-viewer-secret': viewerSecret },
      }),
      viewerProtocolPolicy: ViewerProtocolPolicy.HTTPS_ONLY,
      allowedMethods: AllowedMethods.ALLOW_ALL,
      cachePolicy: CachePolicy.CACHING_DISABLED,
      originRequestPolicy: OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
      functionAssociations: this.#before('ViewerAddress', 'Says whose address calls come from', viewerAddressFunction),
    };
  }

  #before(id: string, comment: string, code: string): NonNullable<BehaviorOptions['functionAssociations']> {
    return [{ eventType: FunctionEventType.VIEWER_REQUEST, function: edgeFunction(this, id, comment, code) }];
  }

  #headers(id: string, policy: string): ResponseHeadersPolicy {
    return new ResponseHeadersPolicy(this, id, {
      securityHeadersBehavior: {
        contentSecurityPolicy: { contentSecurityPolicy: policy, override: true },
        contentTypeOptions: { override: true },
        referrerPolicy: { referrerPolicy: HeadersReferrerPolicy.NO_REFERRER, override: true },
        strictTransportSecurity: { accessControlMaxAge: Duration.days(365), override: true },
      },
    });
  }
}
