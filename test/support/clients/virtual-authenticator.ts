import type { Page } from 'playwright-core';

/** A virtual authenticator of Chromium, which verifies the user by default. */
export const plugAuthenticator = async (page: Page) => {
  const devices = await page.context().newCDPSession(page);
  await devices.send('WebAuthn.enable', { enableUI: false });
  const { authenticatorId } = await devices.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    verifies: (isUserVerified: boolean) =>
      devices.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
    /** If true, requests are confirmed immediately; otherwise they wait. */
    consents: (enabled: boolean) =>
      devices.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled }),
    forget: () => devices.send('WebAuthn.clearCredentials', { authenticatorId }),
  };
};
