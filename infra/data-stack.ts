import { AttributeType, Billing, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { CfnOutput, RemovalPolicy, Stack, type StackProps, Validations } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { Stores } from './grants.ts';

/** What outlives every deployment: the table, the secrets of the database and the mail provider, and the master key. */
export class DataStack extends Stack implements Omit<Stores, 'mailQueue'> {
  readonly table: TableV2;
  readonly mongodbSecret: Secret;
  readonly encryptionSecret: Secret;
  readonly mailProviderSecret: Secret;

  constructor(scope: Construct, id: string, props: StackProps = {}) {
    super(scope, id, { ...props, terminationProtection: true });
    this.table = new TableV2(this, 'Table', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      sortKey: { name: 'sk', type: AttributeType.STRING },
      billing: Billing.onDemand(),
      timeToLiveAttribute: 'expiresAt',
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: true,
      removalPolicy: RemovalPolicy.RETAIN,
    });
    this.mongodbSecret = new Secret(this, 'MongodbUri', {
      description: 'URI of the MongoDB cluster; put it in by hand after this stack is made.',
      removalPolicy: RemovalPolicy.RETAIN,
    });
    this.mailProviderSecret = new Secret(this, 'MailProviderKey', {
      description: 'API key of the mail provider (Resend); put it in by hand after this stack is made.',
      removalPolicy: RemovalPolicy.RETAIN,
    });
    // 43 characters of base64 are 32 bytes; letters and digits alone still carry more than 250 bits.
    this.encryptionSecret = new Secret(this, 'EncryptionKey', {
      description: 'Master key of everything that is stored encrypted. Without it that is lost.',
      generateSecretString: { passwordLength: 43, excludePunctuation: true },
      removalPolicy: RemovalPolicy.RETAIN,
    });
    Validations.of(this.mongodbSecret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: 'The URI is made by the operator of the MongoDB cluster, who changes it there and here together.',
    });
    Validations.of(this.mailProviderSecret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: 'The key is made by the operator at the mail provider, who changes it there and here together.',
    });
    Validations.of(this.encryptionSecret).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason: 'A new master key would make everything encrypted with the old one unreadable.',
    });
    new CfnOutput(this, 'MongodbSecretArn', { value: this.mongodbSecret.secretArn });
    new CfnOutput(this, 'MailProviderSecretArn', { value: this.mailProviderSecret.secretArn });
  }
}
