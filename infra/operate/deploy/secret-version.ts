import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';

/** A secret, and the AWS profile whose credentials reach it; without one those of the environment do. */
export interface SecretPlace {
  readonly arn: string;
  readonly profile: string | undefined;
}

/** What a secret holds now, and which of its versions that is. */
export interface SecretVersion {
  readonly value: string;
  readonly id: string | undefined;
  /** Its labels, `AWSCURRENT` among them. */
  readonly stages: readonly string[];
}

/** A client for the region that the secret is in. */
export const secretsClient = ({ arn, profile }: SecretPlace): SecretsManagerClient =>
  new SecretsManagerClient({ region: arn.split(':')[3] ?? '', ...(profile !== undefined && { profile }) });

export const loadSecret = async (place: SecretPlace): Promise<SecretVersion> => {
  const command = new GetSecretValueCommand({ SecretId: place.arn });
  const { SecretString = '', VersionId, VersionStages = [] } = await secretsClient(place).send(command);
  return { value: SecretString, id: VersionId, stages: VersionStages };
};
