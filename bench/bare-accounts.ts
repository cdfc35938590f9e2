import type { IncomingHttpHeaders } from 'node:http';
import { hash, verify } from '@node-rs/bcrypt';
import { type Db, type Document, ObjectId } from 'mongodb';

/** Account routes of a hand-written server: the one database command, and bcrypt if needed. */
export const bareAccounts = async (
  database: Db,
  route: string,
  headers: IncomingHttpHeaders,
  body: () => Promise<Document>,
): Promise<unknown> => {
  const users = database.collection('users');
  if (route === 'me') return users.findOne({ _id: new ObjectId(headers.authorization?.slice('Bearer '.length)) });
  if (route === 'refresh-token') {
    const refreshToken = crypto.randomUUID();
    const token = headers['x-refresh-token'];
    const found = await database
      .collection('bare-sessions')
      .findOneAndUpdate({ token }, { $set: { token: refreshToken } });
    if (!found) throw new Error('There is no such session');
    return { refreshToken };
  }
  const { email, password } = await body();
  if (route === 'signup') {
    const now = new Date();
    const stored = await hash(String(password), { cost: Number(process.env.PASSWORD_COST) });
    const { insertedId } = await users.insertOne({ email, password: stored, createdAt: now, updatedAt: now });
    return { _id: insertedId, email };
  }
  const user = await users.findOne({ email });
  if (!user || !(await verify(String(password), String(user.password)))) throw new Error('Wrong password');
  return { _id: user._id, email };
};
