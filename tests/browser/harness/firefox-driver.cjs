// Lets Playwright drive a Firefox as it is released. Loaded into Playwright's Node.js before its own
// code, by harness/firefox.py.
//
// Playwright speaks WebDriver BiDi to such a Firefox, and sends one command that Firefox 153 does not
// have yet: of media features (colour scheme), which no test that runs in Firefox sets.

const Module = require("node:module");

const BUNDLE = /[\\/]coreBundle\.js$/;
const COMMAND = /await this\.[\w.]+\.send\("emulation\.setMediaFeaturesOverride",/g;

const compile = Module.prototype._compile;
Module.prototype._compile = function (content, filename, ...rest) {
  if (BUNDLE.test(filename)) {
    if (!COMMAND.test(content)) {
      throw new Error(`${filename} does not send the command that ${__filename} leaves out`);
    }
    content = content.replace(COMMAND, "void (");
  }
  return compile.call(this, content, filename, ...rest);
};
