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

/** Closed to the public, encrypted, without access lists, and kept when its stack goes. */
export const privateBucket = {
  blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
  objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
  encryption: BucketEncryption.S3_MANAGED,
  enforceSSL: true,
  minimumTLSVersion: 1.2,
  removalPolicy: RemovalPolicy.RETAIN,
} as const satisfies BucketProps;

/** Lets a distribution read what is in folders of a bucket; each of its origins or paths has to begin in one. */
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
  // Without it S3 answers 403 and not 404 for what is not there. No path that is asked for can be a list.
  bucket.addToResourcePolicy(
    new PolicyStatement({ ...reader, actions: ['s3:ListBucket'], resources: [bucket.bucketArn] }),
  );
};
