// Notes of whoever is signed in: theirs alone, and the same in every window while they write.
import { basalt } from '@basalt/client';
import { key, url } from './project.js';

const app = basalt(url, key);
const at = (id) => document.getElementById(id);

/** Shows what went wrong. */
const report = (error) => {
  at('problem').textContent = error.message;
};

/** Does what a button or a form asks for, once at a time; what went wrong is shown. */
const attempt = (act, asking = {}) => {
  for (const id of ['problem', 'done']) at(id).textContent = '';
  asking.disabled = true;
  act()
    .catch(report)
    .finally(() => {
      asking.disabled = false;
    });
};

const element = (name, properties) => Object.assign(document.createElement(name), properties);

const links = new Map();

/** Pictures are private: whoever they are of opens them by a link, here for a week, in the size that the page shows. */
const open = async (path, image) => {
  if (!links.has(path)) {
    const asked = app.files.sign([path], { expiresIn: 7 * 24 * 3600, width: 640 });
    links.set(path, asked);
    // One that could not be had is asked for again, when the notes are shown next.
    asked.catch(() => links.delete(path));
  }
  const [{ url = '' }] = await links.get(path);
  image.src = url;
};

const remove = async ({ _id, picture }) => {
  await app.notes.delete(_id, { permanent: true });
  if (picture) await app.files.delete(picture);
};

const row = (note) => {
  const item = element('li');
  item.append(element('p', { textContent: note.text }));
  if (note.picture) {
    const image = element('img', { alt: 'Picture of the note' });
    item.append(image);
    open(note.picture, image).catch(report);
  }
  const onclick = ({ target }) => attempt(() => remove(note), target);
  item.append(element('button', { textContent: 'Delete', onclick }));
  return item;
};

let end = () => undefined;
let offer = new AbortController();

/** While the form is there, its first field offers the passkeys of this device; an offer is good for five minutes. */
const offerPasskeys = async () => {
  offer = new AbortController();
  const { signal } = offer;
  if (!(await globalThis.PublicKeyCredential?.isConditionalMediationAvailable?.())) return;
  while (!signal.aborted) {
    const old = AbortSignal.timeout(4 * 60_000);
    const asked = { mediation: 'conditional', signal: AbortSignal.any([signal, old]) };
    const isTaken = await app.auth.loginByPasskey(asked).catch((error) => {
      if (!signal.aborted && !old.aborted) throw error;
    });
    if (isTaken) await show();
  }
};

/** Shows one's notes, as they are from now on, or what signs one in. */
const show = async () => {
  end();
  offer.abort();
  const isIn = (await app.auth.token()) !== undefined;
  for (const id of ['account', 'write']) at(id).hidden = !isIn;
  at('enter').hidden = isIn;
  at('notes').replaceChildren();
  if (isIn) end = app.notes.live({}, (notes) => at('notes').replaceChildren(...notes.map(row)));
  else attempt(offerPasskeys);
};

at('enter').onsubmit = (event) => {
  event.preventDefault();
  const { email, password } = Object.fromEntries(new FormData(event.target));
  attempt(() => app.auth[event.submitter.value]({ email, password }).then(show), event.submitter);
};

at('passkey').onclick = ({ target }) =>
  attempt(async () => {
    const { name } = await app.auth.addPasskey();
    at('done').textContent = `${name} is added: it signs in here without a password.`;
  }, target);

at('leave').onclick = ({ target }) => {
  // What is live asks as whoever is signed in.
  end();
  attempt(() => app.auth.logout().finally(show), target);
};

at('write').onsubmit = (event) => {
  event.preventDefault();
  const { text, picture } = Object.fromEntries(new FormData(event.target));
  // The whole form waits: a note may be shown before its answer is here, and what is typed next is not to be lost.
  attempt(async () => {
    const kept = picture.size > 0 && { picture: (await app.files.upload(picture)).path };
    await app.notes.insert({ text, ...kept });
    event.target.reset();
  }, event.target.firstElementChild);
};

attempt(show);
