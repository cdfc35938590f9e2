import {
  CloudFrontClient,
  CreatePublicKeyCommand,
  DeletePublicKeyCommand,
  GetKeyGroupCommand,
  GetPublicKeyConfigCommand,
  ListPublicKeysCommand,
  UpdateKeyGroupCommand,
} from '@aws-sdk/client-cloudfront';

/** CloudFront has one address for all regions. */
const client = new CloudFrontClient({ region: 'us-east-1', maxAttempts: 3 });

const isCalled = (error: unknown, ...names: readonly string[]): boolean => names.includes((error as Error).name);

/** The ids of the public keys whose names begin with `prefix`, by those names. An account may have ten in all. */
export const publicKeys = async (prefix: string): Promise<ReadonlyMap<string, string>> => {
  const { PublicKeyList } = await client.send(new ListPublicKeysCommand({ MaxItems: 100 }));
  const found = (PublicKeyList?.Items ?? []).flatMap(({ Name = '', Id = '' }) =>
    Name.startsWith(prefix) ? [[Name, Id] as const] : [],
  );
  return new Map(found);
};

/** Makes CloudFront know a key, or finds that it does already; returns its id. */
export const addPublicKey = async (name: string, pem: string): Promise<string> => {
  try {
    const config = { CallerReference: name, Name: name, EncodedKey: pem };
    const { PublicKey } = await client.send(new CreatePublicKeyCommand({ PublicKeyConfig: config }));
    return PublicKey?.Id ?? '';
  } catch (error) {
    const known = isCalled(error, 'PublicKeyAlreadyExists') ? (await publicKeys(name)).get(name) : undefined;
    if (known === undefined) throw error;
    return known;
  }
};

/** Lets a key group have exactly these keys; false where somebody else is changing it. */
export const setGroupKeys = async (groupId: string, ids: readonly string[]): Promise<boolean> => {
  const { KeyGroup, ETag } = await client.send(new GetKeyGroupCommand({ Id: groupId }));
  const { Name, Comment, Items = [] } = KeyGroup?.KeyGroupConfig ?? {};
  if (Items.length === ids.length && ids.every((id) => Items.includes(id))) return true;
  try {
    const config = { Name, Comment, Items: [...ids] };
    await client.send(new UpdateKeyGroupCommand({ Id: groupId, IfMatch: ETag, KeyGroupConfig: config }));
    return true;
  } catch (error) {
    if (isCalled(error, 'PreconditionFailed')) return false;
    throw error;
  }
};

/** Removes a key that is in no group any more; also one that is gone. */
export const removePublicKey = async (id: string, name: string): Promise<void> => {
  const known = (await publicKeys(name)).get(name);
  if (known !== id) return;
  const { ETag } = await client.send(new GetPublicKeyConfigCommand({ Id: id }));
  await client.send(new DeletePublicKeyCommand({ Id: id, IfMatch: ETag }));
};
