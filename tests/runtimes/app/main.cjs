const { fold } = require("warmfold");

import("./program.mjs").then(({ program }) => console.log(program(fold)));
