import type { Distribution } from 'aws-cdk-lib/aws-cloudfront';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  BlockPublicAccess,
  type Bucket,
  BucketEncryption,
  type BucketProps,
  ObjectOwnership,
} from 'aws-cdk-lib/aws-s3';
import { RemovalPolicy } from 'aws-cdk-lib/core';

/** Private and encrypted, without ACLs, and retained when its stack is deleted. */
export const privateBucket = {
  blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
  objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
  encryption: BucketEncryption.S3_MANAGED,
  enforceSSL: true,
  minimumTLSVersion: 1.2,
  removalPolicy: RemovalPolicy.RETAIN,
} as const satisfies BucketProps;

/** Lets a distribution read folders of a bucket. Each of its origins or paths must begin with one of them. */
export const letIn = (distribution: Distribution, bucket: Bucket, ...folders: readonly string[]): void => {
  const reader = {
    principals: [new ServicePrincipal('cloudfront.amazonaws.com')],
    conditions: { StringEquals: { 'AWS:SourceArn': distribution.distributionArn } },
  };
  bucket.addToResourcePolicy(
    new PolicyStatement({
      ...reader,
      actions: ['s3:GetObject'],
      resources: folders.map((folder) => bucket.arnForObjects(`${folder}/*`)),
    }),
  );
  // Without it, S3 returns 403 instead of 404 for missing objects. No requested path can be a list.
  bucket.addToResourcePolicy(
    new PolicyStatement({ ...reader, actions: ['s3:ListBucket'], resources: [bucket.bucketArn] }),
  );
};
