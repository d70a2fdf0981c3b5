"""Comments of members that every module, option class or container has."""

# (the class, the declaration, the comment); {c} is the name of the class, {call} the function whose
# result the declaration's body returns, {function} and others are groups of the declaration.
STANDARD = (
    (r"\w+Impl(Base)?", r"(explicit )?{c}\(.*Options\b.*\)", "Make the module with these options."),
    (r"\w+Impl(Base)?", r"(explicit )?{c}\(.*\)",
     "Make the module. The parameters are the options of these names; the others have their defaults."),
    (r"\w+Impl(Base)?", r"[\w:]+(<.*>)? options", "The options, which forward() and reset() read."),
    (r"\w+Impl(Base)?", r"Tensor forward\(const Tensor& \w+\)",
     "Apply the module. The class describes shapes, dtypes and errors."),
    (r"\w+Impl(Base)?", r"void reset\(\) override",
     "Register parameters, buffers and submodules, and initialise them."),
    (r"\w+Impl(Base)?", r"void pretty_print\(std::ostream& \w+\) const override",
     "Print the module's own line, without its submodules."),
    (r"\w+LossImpl", r"Tensor forward\(.*",
     "Return the loss. The class describes shapes, dtypes and errors."),
    (r"\w+Options", r"(explicit )?{c}\(.*\)",
     "Set the options that the parameters name; the others have their defaults."),
    (r"\w+Options", r"([\w&]+ )?inplace\(", "Overwrite the input and return it; default: `false`."),
    (r"\w+Options", r"([\w&]+ )?reduction\(",
     "Return the mean of the losses, their sum, or each of them; default: `kMean`."),
    (r"functional", r".*\b(?P<function>\w+)\(.*const (?P<options>\w*Options)& o(ptions)?\b.*\)",
     "Call {call}() with the values of these options. {options} describes each value and its default; "
     "{call}() describes shapes, dtypes, errors and gradients."),
    (r"[a-z]*", r".*\b(?P<function>\w+)_\(const Tensor& \w+[,)]",
     "Overwrite the first argument with the result of {function}() and return it."),
    (r".*", r"(constexpr )?[\w:<>*&, ]+ \*?(begin|end)\(\)", "Bounds of a range-based for loop."),
    (r".*", r"using \w+ = ", "Another name of this type."),
)
